// run: grid=2 block=64 args=s32:500 u32[500]~0:100 u32[128]=0 u32[500]=0
// An accumulator that the loop reads is none.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *sum, unsigned *y) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned s = 0;
#pragma ccc for reduction(+: s)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 60) s += x[i] * 5;
        y[i] = s;
    }
    sum[thread] = s;
}
