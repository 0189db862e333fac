// run: grid=2 block=64 args=s32:600 f32[600]~-1:1 f32[600]=0
// The slow path of a sine has an array, which another one before the loop has used.
extern "C" __global__ void __launch_bounds__(64) k(int n, const float *x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float a = sinf(x[i] * 1e7f), t = a, old;
#pragma ccc while
        do { old = t; t = 0.9f * sinf(t) + a; } while (fabsf(t - old) > 1e-2f);
        y[i] = t;
    }
}
