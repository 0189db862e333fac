// run: grid=1 block=100 args=s32:450 u32[900]~0:4294967296 u32[128]=0 u32[901]=0
// Flags that a task sets whatever they were, one in its turns and one behind them.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *flags, unsigned *y) {
    bool any = false, last = false;
#pragma ccc for reduction(|: any) reduction(|: last)
    for (int i = threadIdx.x; i < n; i += 100) {
        unsigned v = x[i];
#pragma ccc while
        while (v % 5 > 1) {
            v = v * 1664525u + 1013904223u;
            if (v % 64 == 7) {
                atomicAdd(&y[n], 1);
                any = true;
            }
        }
        y[i] = v;
        if (x[v % n] % 32 == 1) {
            atomicAdd(&flags[127], 1);
            last = true;
        }
    }
    flags[threadIdx.x] = any + 2 * last;
}
