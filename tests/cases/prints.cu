// run: grid=2 block=64 args=s32[400]~0:9 s32[400]=0 s32:400
// The compiler has one buffer for what all of them print, of which one fills less than another.
#include <cstdio>
extern "C" __global__ void k(const int *x, int *y, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int turns = 0;
        if (x[i] == 0) printf("%d is %d\n", i, x[i]);
#pragma ccc if
        if (x[i] > 2) {
            for (int a = x[i]; a != 1; ++turns) a = a & 1 ? 3 * a + 1 : a / 2;
            if (turns > 15) printf("many: %d, %f\n", turns, 0.25 * turns);
        }
        y[i] = turns;
        if (turns > 12) printf("%d takes %d, %f\n", i, turns, 0.5 * turns);
    }
}
