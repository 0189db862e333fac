// run: grid=1 block=(8,9) args=u32[400]=0 u32[400]~0:1000 s32[400]~0:12 s32:400 u32[128]=0
// A branch, a loop and a branch in a row, a sum in all of them, and ways past each.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, const unsigned *x, const int *z, int n, unsigned *t) {
    int me = threadIdx.x + 8 * threadIdx.y;
    if (me % 11 == 3) return;
    unsigned sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = me; i < n; i += 72) {
        unsigned s = x[i];
        if (s % 7 == 0) continue;
#pragma ccc if
        if (s % 3 == 1) {
            for (int j = 0; j < 8; j++) s = s * 5 + (s >> 7);
            sum += s;
        }
        int left = z[i];
#pragma ccc while
        while (left > 0) { s = s * 3 + left; left -= 1 + (s & 1); sum += left; if (s % 19 == 3) break; }
#pragma ccc if
        if (s & 4) { for (int j = 0; j < 5; j++) s = s * 7 + (s >> 9); }
        out[i] = s;
    }
    t[me] = sum;
}
// options: strategy=merge
