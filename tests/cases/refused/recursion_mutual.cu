// run: grid=2 block=64 args=s32:200 u32[200]~0:10 u32[200]=0
// Two functions that call one another.
__device__ unsigned odd(unsigned a, unsigned left);
#pragma ccc recursion
__device__ __noinline__ unsigned even(unsigned a, unsigned left) {
    return left == 0 ? a : odd(a / 2, left - 1);
}
__device__ __noinline__ unsigned odd(unsigned a, unsigned left) {
    return left == 0 ? a : even(3 * a + 1, left - 1);
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = even(i, x[i]);
}
