// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[128]=0
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int first = threadIdx.x + blockIdx.x * blockDim.x;
#pragma ccc for
    for (int i = first; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) y[first] = x[i] * x[i];
    }
}
