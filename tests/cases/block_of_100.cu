// run: grid=3 block=100 args=s32:1111 u32[1111]~0:100 u32[1111]=0
// The last warp of a block has four lanes: four tasks fill it.
extern "C" __global__ void __launch_bounds__(100) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 25) y[i] = x[i] * x[i] + i;
    }
}
