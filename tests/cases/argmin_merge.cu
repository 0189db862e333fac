// run: grid=1 block=100 args=f32[256]=0 s32[256]=0 f32[900]~-2:2 s32:900
// The place of the least and of the most go with them. Several are equal, in several branches of an
// iteration and in several iterations, and some are no numbers, or zeros with a sign.
extern "C" __global__ void __launch_bounds__(128) k(float *o, int *p, const float *__restrict__ x, int n) {
    float least = 100, most = -100;
    int at = -1, behind = -1;
#pragma ccc for reduction(min: least) reduction(max: most)
    for (int i = threadIdx.x; i < n; i += 100) {
        float v = x[i];
#pragma ccc if
        if (v > 0.5f) {
            v = rintf(v * 4);
            for (int k = 0; k < 3; k++) v = rintf(v * v - 3.75f);
            v = sqrtf(v) * -1;
            if (v <= least) {
                least = v;
                at = i;
            }
            if (v > most) {
                most = v;
                behind = i;
            }
        } else if ((v = rintf(v * 3)) <= least) {
            least = v;
            at = i + 1000;
        }
    }
    o[threadIdx.x] = least;
    o[128 + threadIdx.x] = most;
    p[threadIdx.x] = at;
    p[128 + threadIdx.x] = behind;
}
// options: strategy=merge
