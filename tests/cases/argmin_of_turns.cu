// run: grid=2 block=100 args=s32[256]=0 f64[256]=0 s32[256]=0 s32[256]=0 s32[1600]~0:40 s32:1500
// All turns of an inner loop take the number of their iteration, so that nvcc makes one choice of
// several turns: the first of the least, and the last of the greatest.
extern "C" __global__ void __launch_bounds__(128) k(int *o, double *p, int *q, int *r, const int *x,
                                                    int n) {
    int least = 50, at = -1, where = -1;
    double most = -5;
#pragma ccc for reduction(min: least) reduction(max: most)
    for (int i = threadIdx.x + 100 * blockIdx.x; i < n; i += 200) {
#pragma ccc if
        if (x[i] < 14) {
            for (int k = 0; k < x[i]; k++) {
                if (x[i + k] < least) {
                    least = x[i + k];
                    at = i;
                }
                double v = x[i + k] * 0.25;
                if (v >= most && v < 9) {
                    most = v;
                    where = i;
                }
            }
        }
    }
    int t = threadIdx.x + 128 * blockIdx.x;
    o[t] = least;
    p[t] = most;
    q[t] = at;
    r[t] = where;
}
