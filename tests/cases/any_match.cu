// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[2]=0
// All threads may store to one place, in any order: here they all find the same.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *found) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) {
            y[i] = x[i] * x[i] + 1;
            if (i / 450 == 0) found[0] = 7 + i / 450;
        }
    }
}
// options: strategy=queue
