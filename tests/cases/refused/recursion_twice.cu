// run: grid=2 block=64 args=s32:200 u32[200]~0:10 u32[200]=0
// nvcc: -Xcicc -O0
// Two calls in one run of the function: a tree and no chain.
#pragma ccc recursion
__device__ unsigned fibonacci(unsigned n) {
    if (n < 2) return n;
    return fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = fibonacci(x[i]);
}
