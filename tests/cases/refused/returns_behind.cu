// run: grid=2 block=64 args=s32:500 f32[500]~0:9 f32[500]=0
// Whether its lane goes on is known when the path is through, and the rest goes with the task.
extern "C" __global__ void k(int n, const float *x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float a = x[i];
#pragma ccc while
        while (a > 1.0f) a = a * 0.5f + 0.1f;
        if (a < 0.3f) return;
        y[i] = a;
    }
}
