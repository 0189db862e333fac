// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0
// The column is filled before the branch, and read in it at a place that depends on the iteration.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
    __shared__ unsigned column[4][64];
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        for (int j = 0; j < 4; j++) column[j][threadIdx.x] = x[i] + j * i;
#pragma ccc if
        if (x[i] < 40) y[i] = column[x[i] & 3][threadIdx.x];
    }
}
