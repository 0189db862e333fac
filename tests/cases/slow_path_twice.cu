// run: grid=1 block=64 args=f32[300]=0 f32[300]~-300000:300000 s32:195
// sinf and cosf keep what is left of a large argument in local memory, before the path and in it.
extern "C" __global__ void k(float *out, const float *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = sinf(x[i]);
        out[i] = v;
#pragma ccc if
        if (v > 0.5f) out[i] = cosf(x[i] * v * 3) + 1;
    }
}
