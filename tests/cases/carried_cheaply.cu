// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[128]=0
// The next iteration needs a value that the path changes, but that is one addition.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *counts) {
    unsigned taken = 0;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 30) { y[i] = x[i] * taken + 1; ++taken; }
    }
    counts[threadIdx.x + blockIdx.x * blockDim.x] = taken;
}
// options: strategy=queue
