// run: grid=2 block=64 args=s32:600 u32[600]~0:100 u32[600]=0
// The path stands in a device function that is inlined into the annotated loop.
__device__ __forceinline__ void visit(unsigned a, unsigned *y) {
#pragma ccc if
    if (a < 35) *y = a * 7 + 1;
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        visit(x[i], &y[i]);
}
// options: strategy=queue
