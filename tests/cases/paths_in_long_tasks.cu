// run: grid=2 block=100 args=s32:39 u32[61]~0:120 u32[15660]=0 u32[16]=0 u64[200]=0
// Long tasks are shared out, and the long paths in their turns collected all the same.
extern "C" __global__ void __launch_bounds__(128)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned *__restrict__ z,
  unsigned long long *__restrict__ sum) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned long long s = 5;
#pragma ccc for reduction(+: s)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        const unsigned end = x[i] * x[i] / 260;
#pragma ccc for variable
        for (unsigned j = 0; j < end; ++j) {
            unsigned value = i * 7 + j * 3;
#pragma ccc if
            if (value % 3 == 0) {
                for (unsigned k = 0; k < value % 8; ++k) value = value * 5 + (value >> 3);
                s += value;
            } else {
                atomicAdd(&z[value % 16], j);
            }
            atomicAdd(&y[i * 260 + j], value + threadIdx.x / 128);
            s += j;
        }
    }
    sum[thread] = s;
}
