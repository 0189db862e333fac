// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[2]=0
// All iterations store the same to two flags, which does no harm.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *flags) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) {
            y[i] = x[i] * x[i] + 1;
            flags[0] = 1;
            if (x[i] < 10) flags[1] = 1;
        }
    }
}
// options: strategy=queue
