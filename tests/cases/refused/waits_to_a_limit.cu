// run: grid=1 block=32 args=s32[32]~0:12 s32[32]=0 s32[32]=0 s32:32 s32:0
// A limit that lanes come to only if the step is none of 0: it need not end the wait for what follows the path.
extern "C" __global__ void k(const int *a, int *out, volatile int *flag, int n, int step) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        if (i != 0)
            for (int k = 0; k < 3000 && flag[i - 1] == 0; k += step) {
            }
#pragma ccc if
        if (a[i] > 6) out[i] += i * 5 + 2;
        flag[i] = 1;
    }
}
// options: strategy=queue
