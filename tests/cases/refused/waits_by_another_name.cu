// run: grid=1 block=32 args=s32[64]~0:12 s32[32]=0 s32[8]=1 s32[8]=0 s32:32
// What lanes wait for is written by another pointer, which may lead to the same array.
extern "C" __global__ void k(const int *a, int *out, volatile int *turn, int *next, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        while (turn[i & 7] == 0) {
        }
#pragma ccc if
        if (a[i] > 6) out[i] += i * 5 + 2;
        atomicAdd(&next[i & 7], 1);
    }
}
