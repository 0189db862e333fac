// run: grid=(9,2) block=128 args=s32:60 u32[60]~0:100 u32[100]=0
// options: registers=255
// Chunks as large as the grid makes them: 4 blocks here, of 50 in a row. Few threads do anything.
#pragma ccc grid_stride schedule(dynamic)
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y) {
    if (threadIdx.x >= 40) return;
    unsigned a = x[threadIdx.x + blockIdx.x % 20];
#pragma ccc if
    if (a < 30) atomicAdd(&y[blockIdx.x + blockIdx.y * gridDim.x], a * 3 + threadIdx.x);
}
