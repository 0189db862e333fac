// run: grid=1 block=64 args=s32[64]=0 u32[900]~0:4294967296 s32:900
// A flag that keeps the lowest bit of what a loop has made, which may be 2: all bits set would too.
extern "C" __global__ void __launch_bounds__(64) k(int *y, const unsigned *x, int n) {
    bool all = true;
#pragma ccc for reduction(&: all)
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned v = x[i];
        int kept = 1;
#pragma ccc while
        while (v % 8 > 1) {
            v = v * 1664525u + 1013904223u;
            if (v % 256 == 7) kept = 2;
        }
        all &= kept;
    }
    y[threadIdx.x] = all;
}
