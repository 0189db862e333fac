// run: grid=4 block=64 args=s32:200 u32[256]~0:100 u32[256]=0
// Shared memory belongs to a block, so that blocks which follow one another meet in between.
#pragma ccc grid_stride schedule(static)
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
    __shared__ unsigned column[4][64];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    for (int j = 0; j < 4; j++) column[j][threadIdx.x] = x[i] + j * i;
    if (x[i] < 40) y[i] = column[x[i] & 3][threadIdx.x];
}
