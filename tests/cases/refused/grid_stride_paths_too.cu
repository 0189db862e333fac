// run: grid=4 block=64 args=s32:200 u32[256]~0:100 u32[256]=0
// Neither the kernel nor what would have been a path of its loop.
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    __syncthreads();
#pragma ccc if
    if (x[i] > 50) y[i] = x[i] * 3;
}
