// run: grid=1 block=64 args=s32[64]~0:9 s32[64]~0:9 s32[64]~0:3 s32[200]=0 s32:200
// Tasks would take along those of the loop around, but for an array that is filled in its turns.
extern "C" __global__ void __launch_bounds__(64) k(
    const int *__restrict__ n, const int *__restrict__ m, const int *__restrict__ l,
    int *__restrict__ out, int items) {
#pragma ccc for
    for (int i = threadIdx.x; i < items; i += blockDim.x) {
        int sum = 0;
#pragma ccc while
        for (int a = 0; a < n[i & 63]; a++) {
            int factor[4];
            for (int q = 0; q < 4; q++) factor[q] = m[(a + q) & 63];
            int own = 0;
#pragma ccc while
            for (int p = 0; p < m[(a + i) & 63]; p++) own += m[p & 63] * factor[l[p & 63] & 3];
            sum += own * a;
        }
        out[i] = sum;
    }
}
