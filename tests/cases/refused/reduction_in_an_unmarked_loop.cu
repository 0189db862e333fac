// run: grid=1 block=64 args=s32[65]~0:9 s32[64]~0:9 s32[200]=0 s32:200
// A loop with a reduction in one that is not marked, where no reduction would serve its updates.
extern "C" __global__ void __launch_bounds__(64) k(
    const int *__restrict__ n, const int *__restrict__ m, int *__restrict__ out, int items) {
#pragma ccc for
    for (int i = threadIdx.x; i < items; i += blockDim.x) {
        int sum = 0;
        for (int a = 0; a < n[i & 63]; a++) {
#pragma ccc for variable reduction(+: sum)
            for (int p = 0; p < m[(a + i) & 63]; p++) sum += m[p & 63] * a;
        }
        out[i] = sum;
    }
}
