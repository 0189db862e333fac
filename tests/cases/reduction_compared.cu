// run: grid=1 block=100 args=f32[256]=0 f32[900]~-3:3 s32:900
// A minimum and a maximum as people write them, with comparisons; some numbers are none.
extern "C" __global__ void k(float *o, const float *__restrict__ x, int n) {
    float least = 100, most = -100;
#pragma ccc for reduction(min: least) reduction(max: most)
    for (int i = threadIdx.x; i < n; i += 100) {
        float v = x[i];
#pragma ccc if
        if (v > 0.5f) {
            for (int k = 0; k < 6; k++) v = v * v - 1.75f;
            v = sqrtf(v);
            if (v < least) least = v;
            most = v > most ? v : most;
        } else if (v > 0.25f && most < v) most = v;
    }
    o[threadIdx.x] = least;
    o[128 + threadIdx.x] = most;
}
