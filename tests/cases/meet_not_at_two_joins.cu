// run: grid=1 block=32 args=s32:100 u32[512]~1:100 u32[512]=0
// Lanes that the first branch sends elsewhere come into an arm of the second.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int t = threadIdx.x;
    bool p = x[t] % 3 == 0, q = x[t] % 2, r = x[t] % 4 < 2;
    if (p) { y[480 + t / 8] = 1; if (r) goto A; goto C; }
    if (q) {
#pragma ccc for
        for (int i = t; i < n; i += 32) {
#pragma ccc if
            if (x[i] % 5 < 2) for (unsigned j = 0; j < x[i]; j += 9) y[i] += j * x[j];
            else y[i] = x[x[i] / 7] / x[i];
        }
    } else {
A:      y[128 + t] = x[t] / 3; y[160 + t] = x[t] * 7; y[192+t] = n / x[t];
    }
    y[256 + t] = x[t] / 11;
    y[288 + t] = x[t] / 13;
C:  y[320 + t] = x[t] / 17;
    __syncthreads();
    y[352 + t] = y[256 + (t ^ 1)];
}
// options: strategy=cases
