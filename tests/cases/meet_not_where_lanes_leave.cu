// run: grid=1 block=32 args=s32:100 u32[512]~1:100 u32[512]=0
// Lanes leave the outer loop one by one, and others are counted in it: nobody may wait behind it.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int t = threadIdx.x; unsigned s = 0;
    if (x[t] % 4) {
        for (unsigned o = 0; o < x[t] % 7; o++) {
            if (x[t + o] % 3) {
#pragma ccc for
                for (int i = t; i < n; i += 32) {
#pragma ccc if
                    if (x[i] % 5 < 2) for (unsigned j = 0; j < x[i]; j += 9) y[i] += j * x[j];
                    else y[i] = x[x[i] / 7] / x[i];
                }
            }
            s += x[t + o];
        }
    } else {
#pragma ccc for
        for (int i = t; i < n; i += 32) {
#pragma ccc if strategy(queue)
            if (x[i] % 5 < 2) for (unsigned j = 0; j < x[i]; j += 9) y[i] += j * x[j];
        }
    }
    y[256 + t] = s + x[t];
}
// options: strategy=cases
