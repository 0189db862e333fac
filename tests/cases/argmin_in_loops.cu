// run: grid=2 block=100 args=f64[512]=0 s32[512]=0 s32[512]=0 s32[512]=0 s32[1600]~0:40 s32:1500
// What goes with the least is computed where it is found, in the turns of a loop, and more than one
// word; and a number with its place, of integers.
extern "C" __global__ void __launch_bounds__(128) k(double *o, int *p, int *q, int *r, const int *x,
                                                    int n) {
    double least = 50, when = 0;
    int at = -1, most = -5;
    long long where = -1;
#pragma ccc for reduction(min: least) reduction(max: most)
    for (int i = threadIdx.x + 100 * blockIdx.x; i < n; i += 200) {
        int turns = x[i], number = x[i] % 11;
#pragma ccc while
        for (int k = 0; k < turns; k++) {
            number = (number * 5 + k) % 7;
            double v = number * 0.5;
            if (v < least && k % 3) {
                least = v;
                when = v / (k + 1);
                at = i;
            }
            if (most <= number) {
                most = number;
                where = i * 1000ll + k;
            }
        }
    }
    int t = threadIdx.x + 128 * blockIdx.x;
    o[t] = least;
    o[256 + t] = when;
    p[t] = at;
    q[t] = most;
    r[t] = (int)where;
}
// options: strategy=merge
