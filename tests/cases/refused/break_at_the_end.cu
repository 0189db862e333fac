// run: grid=2 block=64 args=s32:500 u32[500]~0:100 u32[500]=0
// The branch always leaves the loop, so that it lies outside of it in the PTX.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) {
            y[i] = x[i] * x[i];
            break;
        }
    }
}
