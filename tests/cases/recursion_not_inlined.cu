// run: grid=2 block=64 args=s32:200 u32[200]~0:200 u32[200]=0
// nvcc made the loop, but in a function of its own.
#pragma ccc recursion
__device__ __noinline__ unsigned collatz(unsigned a, unsigned steps) {
    if (a <= 1) return steps;
    return collatz(a & 1 ? 3 * a + 1 : a / 2, steps + 1);
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = collatz(x[i] + 1, 0);
}
