// run: grid=4 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
__device__ __noinline__ unsigned one(unsigned a) { return a + 1; }
__device__ __noinline__ unsigned two(unsigned a) { return a * 2; }
__device__ unsigned (*table[2])(unsigned) = {one, two};
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] = table[x[i] % 2](x[i]);
}
