// run: grid=2 block=64 args=s32:700 u64[700]~0:1000000000000 u16[700]~0:60000 f64[700]~-1:1 f64[700]=0
// 64-bit, 16-bit and predicate values in the context.
extern "C" __global__ void k(int n, const unsigned long long *w, const unsigned short *h,
                             const double *d, double *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned long long a = w[i];
        unsigned short s = h[i];
        double f = d[i];
        bool odd = (a ^ s) & 1, big = a > 500000000000ull;
#pragma ccc if
        if (f > 0.25) {
            double r = odd ? f * (double)a : f + (double)s;
            if (big) r = r * 0.5 + (double)(unsigned short)(s * 3);
            y[i] = r;
        }
    }
}
