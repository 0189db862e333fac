// run: grid=2 block=100 args=s32:700 f64[700]~0:1 f64[700]=0 u32[700]=0
// Each arm makes a value of 64 bits and a condition; some threads return before the loop, some
// iterations end before the branch, and the loop ends in the middle of a tile for each lane.
extern "C" __global__ void __launch_bounds__(100)
k(int n, const double *x, double *y, unsigned *flags) {
    if (threadIdx.x % 7 == 3) return;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        double a = x[i], r;
        bool large;
        if (a < 0.1) continue;
#pragma ccc if
        if (a > 0.6) {
            r = sqrt(a) / (a + 2.0);
            large = r > 0.33 || threadIdx.x == 5;
        } else {
            r = a;
#pragma unroll 1
            for (int turn = 0; turn < (int)(a * 9); ++turn) r = r * 0.75 + a;
            large = r > 1.0;
        }
        y[i] = r - a;
        if (large) flags[i] += i;
    }
}
// options: strategy=tile(5)
