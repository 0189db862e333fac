// run: grid=1 block=96 args=s32:180 f32[900]~-8:8 f32[192]=0 f64[192]=0 f32[192]=0 f64[192]=0
// The values are such that their sums are exact in any order.
extern "C" __global__ void k(int n, const float *x, float *sum, double *wide, float *most,
                             double *least) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    float s = 0, m = -1e30f;
    double w = 0.5, l = 1e300;
#pragma ccc for reduction(+: s, w) reduction(max: m) reduction(min: l)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        float a = rintf(x[i]);
#pragma ccc if
        if (a < 2) {
            s += a * a;
            w += (double)a * i;
            m = fmaxf(m, a * i);
        } else {
            l = fmin(l, a / 4.0);
        }
    }
    sum[thread] = s;
    wide[thread] = w;
    most[thread] = m;
    least[thread] = l;
}
