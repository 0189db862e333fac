// run: grid=1 block=32 args=s32:100 u32[512]~1:100 u32[512]=0
// Lanes that never come to the branch before the loops run a part of one of its arms.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int t = threadIdx.x;
    bool p = x[t] % 3 == 0, q = x[t] % 2;
    if (p) goto A1;
    if (q) {
#pragma ccc for
        for (int i = t; i < n; i += 32) {
#pragma ccc if
            if (x[i] % 5 < 2) for (unsigned j = 0; j < x[i]; j += 9) y[i] += j * x[j];
            else y[i] = x[x[i] / 7] / x[i];
        }
    } else {
#pragma ccc for
        for (int i = t; i < n; i += 32) {
#pragma ccc if
            if (x[i] % 5 < 2) for (unsigned j = 0; j < x[i]; j += 9) y[i] += j * x[j];
            else y[i] = x[x[i] / 7] / x[i];
        }
A1:     y[128 + t] = x[t] / 3; y[160 + t] = x[t] * 7; y[192+t] = n / x[t];
    }
    y[256 + t] = x[t];
}
// options: strategy=cases
