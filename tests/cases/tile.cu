// run: grid=2 block=64 args=s32:900 f32[900]~0:1 f32[900]=0
// The rest of the iteration needs what the path makes: it goes back to the lane that it came from.
extern "C" __global__ void k(int n, const float *x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float a = x[i], r = a;
#pragma ccc if
        if (a > 0.7f) r = sqrtf(a) / (a + 2.0f);
        y[i] = r + a;
    }
}
// options: strategy=tile(3)
