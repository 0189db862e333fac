// run: grid=4 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
#include <cooperative_groups.h>
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    cooperative_groups::this_grid().sync();
    y[i] = x[i];
}
