// run: grid=4 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
__device__ __noinline__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __noinline__ unsigned twice(unsigned a) { return a * number() * 2; }
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] = twice(x[i]);
}
