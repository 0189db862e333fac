// run: grid=2 block=64 args=s32:200 u32[200]~0:20000 u32[200]=0
// nvcc: -Xcicc -O0
// Narrow arguments travel in 32 bits; the result is cut and extended again after each call.
#pragma ccc recursion
__device__ short fold(unsigned char a, short b, bool odd) {
    if (a == 0) return odd ? b : -b;
    return fold(a >> 1, b * 5 + a, !odd);
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = fold(x[i], x[i] >> 5, x[i] & 1);
}
