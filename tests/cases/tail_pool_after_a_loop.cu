// run: grid=2 block=96 args=s32:500 u32[500]~0:100 u32[500]=0 u32[500]=0 u32[192]=0
// A pool behind another loop whose stacks lie in the same memory, and another time round a loop
// around both: no warp may count its tasks while another one still has some of the other loop.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned *__restrict__ z,
  unsigned *__restrict__ w) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x, total = blockDim.x * gridDim.x;
    for (int round = 0; round < 2; ++round) {
#pragma ccc for
        for (int s = 0; s < n; s += total) {
#pragma ccc if strategy(queue)
            if (s + thread < n && x[s + thread] % 4 != 1) y[s + thread] += x[s + thread] / 4 + s;
        }
#pragma ccc for
        for (int s = 0; s < n; s += total) {
#pragma ccc if strategy(pool)
            if (s + thread < n && x[s + thread] % 3 == 1) z[s + thread] = z[s + thread] * 2 + 1 + s;
        }
        w[thread] += z[thread];
    }
}
