// run: grid=2 block=64 args=s32:700 u32[700]~0:64 u32[700]=0
// A case that returns is no path; the others are.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc switch
        switch (x[i]) {
            case 0: y[i] = i + 5; break;
            case 1: y[i] = 7 * i; return;
            case 2: y[i] = i ^ x[i]; break;
        }
    }
}
