// run: grid=2 block=64 args=s32:300 u32[300]~0:100 u32[1500]=0
// The annotated loop is run several times; its values of the outer loop are not context.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    for (int round = 0; round < 5; ++round) {
#pragma ccc for
        for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
            if ((x[i] + round) % 3 == 0) y[round * n + i] = x[i] * round + 1;
        }
        __syncthreads();
    }
}
// options: strategy=queue
