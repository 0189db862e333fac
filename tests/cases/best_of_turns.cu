// run: grid=1 block=64 args=f64[64]=0 s32[64]=0 s32[901]~0:9 f64[9000]~-1:1 s32:900
// Which of several equal turns is kept depends on their order, and those of a path inside lose it.
extern "C" __global__ void __launch_bounds__(64) k(double *o, int *p, const int *count,
                                                   const double *x, int n) {
    double best = 3;
    int at = -1;
#pragma ccc for reduction(min: best)
    for (int i = threadIdx.x; i < n; i += 64) {
        int end = i * 10 + count[i];
#pragma ccc for variable
        for (int e = i * 10; e < end; e++) {
            double v = x[e] * 2;
#pragma ccc if
            if (v > 0.125) {
                v = rint(sqrt(v)) - 1;
                if (v < best) {
                    best = v;
                    at = e;
                }
            }
        }
    }
    p[threadIdx.x] = at;
    o[threadIdx.x] = best;
}
