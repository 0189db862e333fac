// run: grid=1 block=64 args=s32[1024]~0:64 s32[1024]=0 s32:900
// Nothing says that what the path writes is not what leads to the next iteration.
struct Chain { const int *next; int *seen; };
__device__ __forceinline__ void walk(Chain chain, int n) {
    int at = threadIdx.x;
#pragma ccc for
    while (at < n) {
        int v = chain.next[at];
#pragma ccc if
        if (v & 1) {
            for (int k = 0; k < 9; k++) v = v * 7 + k;
            chain.seen[at] = v;
        }
        at += chain.next[at] / 64 * 64 + 64;
    }
}
extern "C" __global__ void __launch_bounds__(64) k(const int *next, int *seen, int n) {
    walk(Chain{next, seen}, n);
}
