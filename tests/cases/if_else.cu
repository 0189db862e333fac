// run: grid=2 block=64 args=s32:585 f32[900]~-2:2 f32[900]=0
// Each arm is a path with a stack of its own.
extern "C" __global__ void k(int n, const float *x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float a = x[i];
#pragma ccc if
        if (a < 0.5f) {
            y[i] = a * a * a + 2.0f / (a * a + 1.0f);
        } else {
            y[i] = sqrtf(a) - 1.0f / a;
        }
    }
}
