// run: grid=2 block=64 args=f32[900]~0:1 f32[900]=0 s32:900
// Variables that are declared without a value: an out-parameter of each turn, a struct of each
// iteration, and a variable of the path. What an earlier turn left in them is never read.
struct Ray { float at, step; };
__device__ bool refract(float x, float n, float &out) {
    float d = 1.0f - n * n * (1.0f - x * x);
    if (d > 0) { out = n * x - d; return true; }
    return false;
}
__device__ bool enters(float x, Ray &ray) {
    if (x < 0.5f) return false;
    ray.at = x;
    ray.step = 0.01f;
    return true;
}
extern "C" __global__ void k(const float *__restrict__ x, float *y, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Ray ray;
        bool hit = enters(x[i], ray);
        float a = x[i];
#pragma ccc while
        for (int turn = 0; turn < 20 && a > 0.01f; turn++) {
            float r;
            bool leaves = refract(a, 1.5f, r);
            a = x[(i + turn) % n] < 0.9f || !leaves ? a * 0.7f : r;
        }
        if (hit) a += ray.at + ray.step;
        y[i] = a;
    }
}
// values
