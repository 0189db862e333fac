// run: grid=2 block=64 args=s32[300]~0:400 s32[8]=0 s32[8]=0 s32[300]=0 s32:300
// Two maxima are kept by compare-and-swap, which is tried until it is not too late: nothing hangs
// on how often, and nobody waits.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(const int *x, int *most, int *wide, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < n; i += 128) {
        int v = x[i], sum = 0;
#pragma ccc while
        while (v > 3) {
            v = v * 7 % 33 - 1;
            sum += v;
            int old = most[v & 7];
            while (old < v) {
                int seen = atomicCAS(&most[v & 7], old, v);
                if (seen == old) break;
                old = seen;
            }
            int before = wide[sum & 7];
            while (before < sum) {
                int seen = atomicCAS(&wide[sum & 7], before, sum);
                if (seen == before) break;
                before = seen;
            }
        }
        y[i] = sum;
    }
}
