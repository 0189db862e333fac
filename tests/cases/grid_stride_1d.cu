// run: grid=10 block=512 args=s32:5000 u32[5000]~0:100 u32[5000]=0
// One task a thread; the last block is not full.
#pragma ccc grid_stride
extern "C" __global__ void __launch_bounds__(512) k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 30) y[i] = a * a * 3 + i;
    }
}
// options: strategy=queue
