// run: grid=2 block=64 args=s32:130 u32[200]~0:200 u32[200]=0
// Between the kernel and the recursive function stands another one, called in two places.
#pragma ccc recursion
__device__ __noinline__ unsigned collatz(unsigned a, unsigned steps) {
    if (a <= 1) return steps;
    return collatz(a & 1 ? 3 * a + 1 : a / 2, steps + 1);
}
__device__ __noinline__ unsigned longer(unsigned a, unsigned b) {
    unsigned s = collatz(a, 0), t = collatz(b, 1);
    return s > t ? a : b;
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    const unsigned first = collatz(n + 1, 2);  // outside of the loop: this call stays
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = longer(x[i] + 1, i + 1) + first;
}
