// run: grid=1 block=64 args=s32[64]=0 u32[900]~0:4294967296 s32:900
// Flags joined with those that a loop has made, each from turn to turn.
extern "C" __global__ void __launch_bounds__(64) k(int *y, const unsigned *x, int n) {
    bool all = true;
    unsigned char any = 0;
#pragma ccc for reduction(&: all) reduction(|: any)
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned v = x[i];
        bool kept = true, met = false;
#pragma ccc while
        while (v % 8 > 1) {
            v = v * 1664525u + 1013904223u;
            if (v % 256 == 7) kept = false;
            if (v % 128 == 5) met = true;
        }
        all &= kept;
        any |= met;
    }
    y[threadIdx.x] = all + 2 * any;
}
