// run: grid=2 block=64 args=s32:700 u32[700]~0:100 u32[700]=0
// One arm returns, so that every iteration that goes on takes the other.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 98) {
            y[i] = 5 * x[i];
        } else {
            y[i] = 7;
            return;
        }
    }
}
