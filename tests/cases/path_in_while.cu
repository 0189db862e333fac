// run: grid=2 block=64 args=s32:300 u32[301]~0:12 u32[300]=0
// The turns of a while loop follow one another: what one writes another may read.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned left = x[i];
#pragma ccc while
        while (left > 1) {
#pragma ccc if
            if (left % 2) y[i] = y[i] * 3 + left;
            left /= 2;
        }
    }
}
