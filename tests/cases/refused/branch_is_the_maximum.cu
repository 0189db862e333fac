// run: grid=1 block=64 args=f32[500]~0:9 f32[64]=0 s32:500
// What is annotated is the reduction itself.
extern "C" __global__ void __launch_bounds__(64) k(float *x, float *m, int n) {
    float mx = -1e9f;
#pragma ccc for reduction(max: mx)
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
#pragma ccc if
        if (v > mx) mx = v;
        x[i] = v * 3;
    }
    m[threadIdx.x] = mx;
}
