// run: grid=1 block=64 args=u32[400]=0 u32[400]~0:1000 s32[400]~0:12 s32:400
// Three branches, of which two exclude one another, and two loops behind them.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, const unsigned *x, const int *z, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned s = x[i];
#pragma ccc if
        if (s % 3 == 1) { for (int j = 0; j < 8; j++) s = s * 5 + (s >> 7); }
        else { for (int j = 0; j < 4; j++) s = s * 9 + (s >> 5); }
#pragma ccc if
        if (s % 5 < 2) { for (int j = 0; j < 8; j++) s = s * 5 + (s >> 7); }
        int left = z[i];
#pragma ccc while
        while (left > 0) { s = s * 3 + left; left -= 1 + (s & 1); }
        left = z[(i + 1) % n];
#pragma ccc while
        while (left > 0) { s = s * 11 + left; left -= 1 + (s & 2); }
        out[i] = s;
    }
}
