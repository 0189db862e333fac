// run: grid=(11,3) block=96 args=s32:1056 u32[3168]~0:100 u32[3168]=0
// Chunks of three blocks; eleven are not a multiple of that. With a barrier.
#pragma ccc grid_stride schedule(dynamic, 6 / 2)
extern "C" __global__ void k(int w, const unsigned *x, unsigned *y) {
    __shared__ unsigned tile[96];
    int i = blockIdx.y * w + blockIdx.x * blockDim.x;
    tile[threadIdx.x] = x[i + threadIdx.x];
    __syncthreads();
    y[i + threadIdx.x] = tile[95 - threadIdx.x] + blockIdx.x;
}
