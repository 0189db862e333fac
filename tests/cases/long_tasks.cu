// run: grid=2 block=100 args=s32:51 u32[61]~0:260 u32[15660]=0 u32[16]=0 u64[200]=0
// Most lists are short, some are long: those are shared out among all lanes.
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
            if (value % 3 == 0) {
                y[i * 260 + j] = value + threadIdx.x / 128;
            } else {
                atomicAdd(&z[value % 16], j);
            }
            s += value;
        }
    }
    sum[thread] = s;
}
