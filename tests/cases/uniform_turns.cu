// run: grid=2 block=100 args=s32:500 s32[501]~0:5 u32[500]~0:99 u32[4500]~0:99 u32[4500]=0 u32[16]=0
// Lists of nearly equal length: all lanes go round together, and the long branch of one turn in four
// is collected over all turns. Some lists are empty, some end early, and lanes have different
// numbers of iterations.
extern "C" __global__ void __launch_bounds__(128)
k(int n, const int *__restrict__ length, const unsigned *__restrict__ first,
  const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned *__restrict__ w) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned seen = first[i];
#pragma ccc for variable strategy(uniform)
        for (int j = 0; j < length[i]; ++j) {
            unsigned value = x[9 * i + j];
            seen = seen * 3 + value;
            if (seen % 31 == 0) break;
#pragma ccc if
            if (value % 4 == 0) {
                for (unsigned k = 0; k < value % 7; ++k) value = value * 5 + (seen >> 3);
                y[9 * i + j] = value + i;
            } else {
                atomicAdd(&w[value % 16], 1);
            }
        }
    }
}
