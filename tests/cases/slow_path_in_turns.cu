// run: grid=2 block=64 args=f64[600]~0:1 f64[728]=0 s32:600
// A path in a path calls a function, whose stack is its own.
extern "C" __global__ void __launch_bounds__(64) k(const double *__restrict__ x,
                                                   double *__restrict__ y, int n) {
    double s = 0;
#pragma ccc for reduction(+: s)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double a = x[i];
        int turns = 0;
#pragma ccc while
        while (a > 0.001) {
#pragma ccc if
            if (a > 0.5) s += floor(16 * sin(a * 1e12));
            a *= x[(i + turns++) % n];
        }
        y[i] = a;
    }
    y[n + blockIdx.x * blockDim.x + threadIdx.x] = s;
}
