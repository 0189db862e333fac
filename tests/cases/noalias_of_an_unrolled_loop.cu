// options: strategy=collect
// run: grid=1 block=64 args=u32[1200]~0:9 u32[1200]~0:9 u32[64]=0 s32:300
// The inner loop promises what holds of its own turns. It is unrolled, and its promise is none of
// the loop around it, where the path writes what the next iteration is found by.
extern "C" __global__ void __launch_bounds__(64) k(int *a, int *b, int *o, int n) {
    int turns = 0;
    #pragma ccc for
    for (int at = threadIdx.x; at < n; at += 64 * a[at]) {
        int v = b[at];
        #pragma ccc if
        if (v == 3) {
            for (int q = 0; q < 90; q++) v = v * 7 + (v >> 3) + q;
            b[at] = 1 + (v & 1);
        }
        #pragma ccc for noalias(a, b)
        #pragma unroll
        for (int j = 0; j < 3; ++j) {
            #pragma ccc if
            if (a[n + 3 * at + j] == 7) b[n + 3 * at + j] = j;
        }
        ++turns;
    }
    o[threadIdx.x] = turns;
}
