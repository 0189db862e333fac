// run: grid=1 block=64 args=s32:300 u32[300]~0:1000 f64[300]=0
// Three polynomials of different degree, of which each lane takes one: coefficients come from a
// table, and lanes that agree take theirs as it was.
extern "C" __global__ void k(int n, const unsigned* __restrict__ in, double* out) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const unsigned drawn = in[i];
        const double x = drawn * 0.001 + 0.1;
        double y;
        #pragma ccc switch strategy(meld)
        switch (drawn % 3) {
        case 0:
            y = 0.37;
            y = fma(y, x, 1.3);
            y = fma(y, x, -0.7);
            y = fma(y, x, 2.9);
            y = fma(y, x, 0.31);
            y = fma(y, x, -5.1);
            break;
        case 1: {
            const double t = sqrt(x) - 0.3;
            y = 1.7;
            y = fma(y, t, 0.2);
            y = fma(y, t, 4.1);
            y = fma(y, t, -0.9);
            y = fma(y, t, 0.6);
            break;
        }
        default: {
            const double t = sqrt(x) - 0.9;
            y = 0.11;
            y = fma(y, t, -0.8);
            y = fma(y, t, 3.3);
            y = fma(y, t, 0.7);
            break;
        }
        }
        out[i] = y * x;
    }
}
