// run: grid=4 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
#include <cuda_pipeline.h>
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    __shared__ unsigned tile[64];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    __pipeline_memcpy_async(&tile[threadIdx.x], &x[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[i] = tile[threadIdx.x];
}
