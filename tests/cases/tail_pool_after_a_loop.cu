// run: grid=2 block=96 args=s32:500 u32[500]~0:100 u32[500]=0 u32[500]=0 u32[192]=0
// A pool behind another loop whose stacks lie in the same memory, and another time round a loop
// around both. In the last one nothing is left to do.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned *__restrict__ z,
  unsigned *__restrict__ w) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    for (int round = 0; round < 2; ++round) {
#pragma ccc for
        for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if strategy(queue)
            if (x[i] % 4 != 1) y[i] += x[i] / 4 + thread % 32;
        }
#pragma ccc for
        for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if strategy(pool)
            if (x[i] % 3 == 1) z[i] = z[i] * 2 + x[i] / 3 + thread % 32;
        }
        w[thread] += z[thread ^ 1];
    }
}
