// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[512]=0
// The path calls functions that use what they are given of the thread's own stack, and read memory.
__device__ __noinline__ void remainders(unsigned v, unsigned *found) {
    for (int k = 0; k < 4; k++) found[k] = v % (k + 2);
}
__device__ __noinline__ unsigned deep(unsigned v, const unsigned *x) {
    unsigned own[4];
    remainders(v, own);
    return own[v & 3] + *x;
}
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y,
                                                   unsigned *z) {
    unsigned seen = 0, sum = 0;
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    remainders(t, z + 4 * t);
#pragma ccc for reduction(+: sum)
    for (int i = t; i < n; i += blockDim.x * gridDim.x) {
        y[i] = seen;
#pragma ccc if
        if (x[i] < 40) sum += deep(x[i] * 7, x + i);
        seen += x[(i + 1) % n];
    }
    z[4 * t] += sum;
}
