// run: grid=1 block=32 args=s32:100 u32[512]~1:100 u32[512]=0
// Some lanes vote in an arm of their own, and then join an arm of the branch before the loop.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int t = threadIdx.x;
    bool p = x[t] % 3 == 0, q = x[t] % 2;
    unsigned m = __ballot_sync(0xffffffff, p);
    if (p) { y[416 + t] = __popc(__ballot_sync(m, x[t] & 4)); goto A; }
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
    __syncthreads();
    y[352 + t] = y[256 + (t ^ 1)];
}
// options: strategy=cases
