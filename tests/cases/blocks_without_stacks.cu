// run: grid=2 block=256 args=s32:1500 f64[48000]~0:1 f64[1500]=0
// Stacks for blocks of any size would not fit: those of more than 256 threads run the loop as it was.

extern "C" __global__ void k(int n, const double *x, double *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        double a = x[i], b = x[i + n], c = x[i + 2 * n], d = x[i + 3 * n], e = x[i + 4 * n],
               f = x[i + 5 * n], g = x[i + 6 * n], h = x[i + 7 * n];
#pragma ccc if
        if (a * b + c * d + e * f + g * h > 2.0) y[i] = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
    }
}
