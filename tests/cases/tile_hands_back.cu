// run: grid=2 block=64 args=s32:400 f32[400]~0:1 f32[400]=0 f32[128]=0
// The rest hands on what the path has made, so that it could not run with the task: it stays with
// its lane. The path makes it on some of its ways only.
extern "C" __global__ void k(int n, const float *x, float *y, float *last) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    float before = 0.5f;
#pragma ccc for
    for (int i = thread; i < n; i += 128) {
        float r = x[i];
#pragma ccc if
        if (r > 0.4f) {
            const float s = sqrtf(r) / (r + 2.0f);
            if (s < 0.31f) r = s;
        }
        y[i] = r - before;
        before = before * 0.5f + r;
    }
    last[thread] = before;
}
// options: strategy=tile(3)
