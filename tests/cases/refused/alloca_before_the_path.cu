// run: grid=1 block=32 args=u32[64]=0 s32:64
// Memory from alloca is filled before the branch and read in the path.
#include <alloca.h>
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned *a = (unsigned *)alloca((2 + i % 3) * 4);
        a[0] = i;
        a[1] = ~i;
        a[1 + i % 3] = 7;
#pragma ccc if
        if (i % 3 == 0) {
            unsigned s = a[i % 2];
            for (unsigned k = 0; k < s % 9; k++) s = s * 3 + a[k % 2];
            out[i] = s;
        }
    }
}
