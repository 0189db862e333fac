// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
        if (a % 4 == 0) continue;
        y[i] = 1;
        if (a % 7 == 0) continue;
#pragma ccc if
        if (a < 50) y[i] = a * 11;
    }
}
// options: strategy=queue
