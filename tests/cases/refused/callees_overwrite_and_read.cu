// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0
// One function stores to a place of the thread's own, through another, and another one reads it.
__shared__ unsigned last[64];
__device__ __noinline__ void put(unsigned *at, unsigned v) { *at = v; }
__device__ __noinline__ void remember(int at, unsigned v) { put(last + at, v); }
__device__ __noinline__ unsigned recall(int at) { return last[at]; }
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        remember(threadIdx.x, x[i]);
#pragma ccc if
        if (x[i] < 40) y[i] = recall(threadIdx.x) * 5;
    }
}
