// run: grid=2 block=64 args=s32:500 u32[500]~0:100 u32[500]=0
// Called through a pointer: which function it is, is known only when it runs.
__device__ __noinline__ void visit(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) y[i] = x[i] * 3;
    }
}
__device__ __noinline__ void skip(int, const unsigned *, unsigned *y) { y[threadIdx.x] = 1; }
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    auto function = n > 7 ? visit : skip;
    function(n, x, y);
}
