// run: grid=7 block=128 args=s32:850 u32[850]~0:100 u32[850]=0 u32[7]=0
// options: registers=255
// Shared memory and barriers: no thread may overwrite what others of its block still read.
#pragma ccc grid_stride schedule(static)
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    __shared__ unsigned tile[128];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
        __syncthreads();
    }
    if (i < n) y[i] = tile[0] - x[i];
    if (threadIdx.x) return;
    z[blockIdx.x] = tile[0];
}
