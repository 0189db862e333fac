// run: grid=1 block=64 args=f32[64]=0 f32[64]=0 s32[64]=0 f32[900]~-1:1 s32:900
// The second best is what was the best before: it depends on the order of all iterations.
extern "C" __global__ void k(float *o, float *q, int *p, const float *x, int n) {
    float best = 3, second = 4;
    int at = -1;
#pragma ccc for reduction(min: best)
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.25f) {
            float v = rintf(x[i] * 8);
            if (v < best) {
                second = best;
                best = v;
                at = i;
            }
        }
    }
    o[threadIdx.x] = best;
    q[threadIdx.x] = second;
    p[threadIdx.x] = at;
}
