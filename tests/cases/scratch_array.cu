// run: grid=2 block=64 args=s32:500 u32[500]~0:100 u32[500]=0
// An array of the thread's own that only the path uses: the lane that runs the task lends its own.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    unsigned digits[12];
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) {
            for (int j = 0; j < 12; ++j) digits[j] = (x[i] >> (j & 3)) + j;
            y[i] = digits[x[i] % 12] + digits[i % 12];
        }
    }
}
// options: strategy=queue
