// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0
// The else arm of an annotated if holds another if.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 20)
            y[i] = a * 17 % 13;
        else if (a < 50)
            y[i] = a % 7 + i;
        else if (a > 90)
            y[i] = 1;
    }
}
