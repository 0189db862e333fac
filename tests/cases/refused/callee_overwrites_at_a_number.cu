// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0
// A function stores to a place of a shared array by a number, the same in each iteration.
__shared__ unsigned last[64];
__device__ __noinline__ void remember(int at, unsigned v) { last[at] = v; }
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        remember(threadIdx.x, x[i]);
#pragma ccc if
        if (x[i] < 40) y[i] = last[threadIdx.x] * 5;
    }
}
