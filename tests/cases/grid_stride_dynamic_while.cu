// run: grid=(13,2) block=128 args=s32:118 u32[850]~1:100 u32[850]=0 u32[26]=0
// options: registers=255
// The same with blocks from a counter: a warp takes its next one by itself.
#pragma ccc grid_stride schedule(dynamic)
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (threadIdx.x == 0) atomicAdd(&z[blockIdx.x + 13 * blockIdx.y], 1);
    if (i >= n) return;
    unsigned a = x[i], steps = 0;
    if (a % 8 == 5) return;
#pragma ccc while
    while (a > 1 && steps < 12) {
        a = a & 1 ? 3 * a + 1 : a / 2;
        ++steps;
    }
    atomicAdd(&y[i], steps * 1000 + a);
}
