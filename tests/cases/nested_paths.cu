// run: grid=1 block=64 args=s32:300 u32[600]~0:100 u32[600]=0 u32[600]=0
// A path inside a path: each has its own stack. The second outer one needs a continuation.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y, unsigned *z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 70) {
            unsigned b = a * 3 + 1;
#pragma ccc if
            if (a % 3 == 0) z[i] = b * 5 + threadIdx.x;
        }
    }
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i], r = 2;
#pragma ccc if
        if (a < 60) {
            r = a * a;
#pragma ccc if
            if (a % 5 < 2) { r += i; if (a % 2) r ^= 77; }
            r += 3;
        }
        y[i] = r;
    }
}
