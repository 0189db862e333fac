// run: grid=1 block=64 args=s32[1100]~0:4 s32[1100]=1 s32[1100]=1 s32:1100 s32:4
// A function returns others in each round: what "from" was in the round before is "to" in this one.
__device__ __noinline__ int *pick(int *x, int *y, int k) { return k & 1 ? x : y; }
extern "C" __global__ void __launch_bounds__(64) k(int *a, int *b, int *c, int n, int rounds) {
    const int *before = nullptr;
    for (int r = 0; r < rounds; ++r) {
        int *const from = pick(b, c, r), *const to = pick(b, c, r + 1);
#pragma ccc for noalias(from, to)
        for (int i = threadIdx.x; i < n; i += 64 * (1 + (before ? before[i] & 1 : 0))) {
            int v = a[i];
#pragma ccc if
            if (v & 1) {
                for (int k = 0; k < (v & 3) + 200; k++) v = v * 7 + k % (v | 1);
                to[i] = (v & 1) + 2;
            }
        }
        before = from;
    }
}
