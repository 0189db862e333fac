// run: grid=2 block=128 args=s32:900 f32[900]~0:1 f32[900]=0
// Some threads leave before the loop, in the middle of a warp.
extern "C" __global__ void k(int n, const float *x, float *y) {
    if (threadIdx.x % 3 == 1) return;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 0.3f) y[i] = x[i] * 7.0f;
    }
}
