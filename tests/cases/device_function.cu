// run: grid=2 block=64 args=s32:700 f32[700]~0:2 f32[700]=0
// A call stays a call.
__device__ __noinline__ float polish(float a, int times) {
    for (int i = 0; i < times; ++i) a = 0.5f * (a + 2.0f / a);
    return a;
}
extern "C" __global__ void k(int n, const float *x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float a = x[i];
#pragma ccc if
        if (a > 1.1f) y[i] = polish(a, i % 5);
    }
}
// options: strategy=queue
