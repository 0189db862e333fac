// run: grid=2 block=64 args=s32:500 u32[500]~0:100 u32[500]=0
// The annotated loop stands in a function that nvcc did not inline.
__device__ __noinline__ void visit(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) y[i] = x[i] * 3;
    }
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) { visit(n, x, y); }
// options: strategy=queue
