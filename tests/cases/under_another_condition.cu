// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
        if (a > 30) {
            y[i] = a;
#pragma ccc if
            if (a % 3 == 0) y[i] = a * 1000 + i;
        }
    }
}
// options: strategy=queue
