// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[900]=0
// What the path writes the rest of the same iteration reads.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 30) y[i] = x[i] + 3;
        z[i] = y[i] * 2 + 1;
    }
}
// options: strategy=queue
