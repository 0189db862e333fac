// run: grid=1 block=64 args=s32:64 u32[256]~0:100 u32[64]=0
// What follows the path may write the same memory, and asks which lane it is.
__device__ __noinline__ unsigned who(unsigned p) { return p + threadIdx.x; }
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 60) y[i] = 1;
        if (who(x[i]) % 2) y[i] = 3;
    }
}
