// run: grid=4 block=64 args=s32:200 u32[256]~0:100 u32[256]=0
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    __shared__ unsigned tile[64];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[63 - threadIdx.x];
}
