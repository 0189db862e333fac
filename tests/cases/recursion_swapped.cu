// run: grid=2 block=64 args=s32:200 u32[200]~0:5000 u32[200]=0
// nvcc: -Xcicc -O0
// The compiler left the call. Each parameter gets the value that the other one had.
#pragma ccc recursion
__device__ unsigned divisor(unsigned a, unsigned b) {
    return b == 0 ? a : divisor(b, a % b);
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = divisor(x[i], 3 * i + 1);
}
