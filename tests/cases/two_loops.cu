// run: grid=2 block=64 args=s32:600 u32[600]~0:1000 u32[600]=0 u64[600]=0
// Two annotated loops share the stack's memory.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned long long *z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] % 3 == 0) y[i] = x[i] * 2;
    }
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned long long wide = (unsigned long long)x[i] << 33 | i;
#pragma ccc if
        if (x[i] % 5 == 0) z[i] = wide * 3;
    }
}
