// run: grid=2 block=64 args=s32:500 f32[500]~0:100 f32[128]=0 f32[128]=0
// A sum that is not declared is kept in its order, by the lane itself, which may load twice.
extern "C" __global__ void k(int n, const float *x, float *sum, float *other) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    float s = 0, t = 0;
#pragma ccc for reduction(+: s)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        float a = x[i];
#pragma ccc if
        if (a < 40) {
            s += floorf(x[(i * 7) % n]);
            t += x[(i * 3) % n];
        }
    }
    sum[thread] = s;
    other[thread] = t;
}
