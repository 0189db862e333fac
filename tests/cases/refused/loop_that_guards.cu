// run: grid=1 block=32 args=s32:40 u32[40]~0:100 u32[40]=0
// The test of the loop around the annotated one is where its lanes would be counted. But lanes that
// have left it by that test wait at the barrier, and do not come to the test again.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    unsigned most = threadIdx.x & 3, round = 0;
    while (true) {
        if (threadIdx.x > (unsigned)n) most = x[round % n] & 1;
        if (round >= most) break;
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
            if (x[i] < 40) y[i] += round + 1;
        }
        ++round;
    }
    __syncthreads();
}
