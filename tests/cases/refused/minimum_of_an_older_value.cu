// run: grid=1 block=32 args=s32[1000]~0:50 s32[32]=0 s32:600
// The second branch compares with what was kept before, and so may drop what is less.
extern "C" __global__ void k(const int *__restrict__ x, int *__restrict__ out, int n) {
    int best = 50;
#pragma ccc for reduction(min: best)
    for (int i = threadIdx.x; i < n; i += 32) {
        int v = x[i];
#pragma ccc if
        if (v & 1) {
            for (int j = 0; j < (v & 7); j++) v = (v * 5 + j) & 63;
            if (v < best) best = v;
        }
        int older = best;
        best = min(best, x[i + 300]);
#pragma ccc if
        if (x[i] < older) best = x[i];
    }
    out[threadIdx.x] = best;
}
