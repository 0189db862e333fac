// run: grid=2 block=64 args=s32[128]~0:30 f64[3840]~-1:1 f64[128]=0 s32:128
// Sine and cosine of doubles call a function, whose stack is its own.
extern "C" __global__ void __launch_bounds__(64) k(const int *count, const double *x, double *y,
                                                   int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = 0; i < count[t]; ++i) {
#pragma ccc if
        if (x[i * n + t] > 0.7) sum += floor(8 * sin(x[i * n + t] * 1e15) * cos(x[i * n + t]));
    }
    y[t] = sum;
}
