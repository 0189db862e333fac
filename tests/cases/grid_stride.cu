// run: grid=1 block=64 args=s32:200 f32[1500]~-1:1 f32[1500]=0
// The core pattern: a grid-stride loop, some lanes take the path.
extern "C" __global__ void k(int n, const float *x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float a = x[i];
#pragma ccc if
        if (a > 0.5f) y[i] = sqrtf(a) * 3.0f + 1.0f / a;
    }
}
// options: strategy=queue
