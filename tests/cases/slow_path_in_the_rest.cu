// run: grid=1 block=64 args=f32[300]=0 f32[300]~-300000:300000 s32:195
// The same, and the rest of the iteration goes with the path.
extern "C" __global__ void k(float *out, const float *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = sinf(x[i]);
#pragma ccc if
        if (v > 0.5f) v = cosf(x[i] * v * 3) + 1;
        out[i] = sinf(v * 99999) + v;
    }
}
