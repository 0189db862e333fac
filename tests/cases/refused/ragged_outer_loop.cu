// run: grid=1 block=32 args=s32:40 u32[40]~0:100 u32[40]=0
// Lanes leave the loop around the annotated one at different times and wait at the barrier, while
// the others, counted in front of the outer loop together with them, come back to the inner one.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    for (unsigned round = 0; round < (threadIdx.x & 3); ++round) {
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
            if (x[i] < 40) y[i] += round + 1;
        }
    }
    __syncthreads();
}
