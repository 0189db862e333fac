// run: grid=9 block=128 args=s32:440 u32[1100]~0:100 u32[1100]=0 u32[9]=0
// options: registers=255
// No path: the kernel becomes a loop all the same. Returns from within a loop, and a value that
// some ways through the body never set.
#pragma ccc grid_stride schedule(static)
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    unsigned a = x[i], found;
    for (unsigned j = 1; j < 8; ++j) {
        if (a % j == 3) return;
        if (a * j > 150) { found = j; break; }
        y[i] += j;
    }
    if (a >= 22) y[i] += found;
    atomicAdd(&z[blockIdx.x], 1);
}
