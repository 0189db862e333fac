// run: grid=2 block=64 args=s32:200 u32[200]~0:20 u32[200]=0
// nvcc: -lineinfo
// The message tells the line of the call, where the compiler has noted it.
#pragma ccc recursion
__device__ unsigned fold(unsigned a, const unsigned *x) {
    if (a == 0) return 1;
    unsigned rest =
        fold(a / 2, x);
    return rest * 31 + x[a] * (rest & 7) + x[rest % 7];
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = fold(x[i], x);
}
