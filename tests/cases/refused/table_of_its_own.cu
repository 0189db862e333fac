// run: grid=1 block=64 args=u32[300]=0 s32:300
// A table that differs from thread to thread, filled before the loop.
extern "C" __global__ void k(unsigned *out, int n) {
    int t[6] = {3, 1, 4, 1, 5, (int)threadIdx.x};
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (i % 3 == 0) {
            unsigned s = i;
            for (int k = 0; k < 9; k++) s = s * 7 + t[s % 6];
            out[i] = s;
        }
    }
}
