// run: grid=1 block=64 args=s32[1024]~0:64 s32[1024]=0 s32:900
// Parameters that are restrict are told apart, though the kernel writes behind both.
extern "C" __global__ void __launch_bounds__(64) k(int *__restrict__ next, int *__restrict__ seen,
                                                   int n) {
    int at = threadIdx.x;
#pragma ccc for
    while (at < n) {
        int v = next[at];
#pragma ccc if
        if (v & 1) {
            for (int k = 0; k < 9; k++) v = v * 7 + k;
            seen[at] = v;
        }
        int step = next[at];
        next[at] = v;
        at += step / 64 * 64 + 64;
    }
}
