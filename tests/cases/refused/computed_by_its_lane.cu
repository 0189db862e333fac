// run: grid=2 block=64 args=s32:500 u32[500]~0:100 u32[128]=0
// A sum that nobody declared, but cheap enough for the lane itself: nothing is left to collect.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *sum) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned s = 0;
#pragma ccc for
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a > 60) s += a * a;
    }
    sum[thread] = s;
}
