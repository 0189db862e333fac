// run: grid=2 block=64 args=s32:400 u32[400]~0:100 u32[400]=0 u32[400]=0
// The second loop is judged when the first one has been rewritten.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *__restrict__ x,
                                                   unsigned *__restrict__ y,
                                                   unsigned *__restrict__ z) {
    const int stride = blockDim.x * gridDim.x;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) {
#pragma ccc if
        if (x[i] % 7 < 2) y[i] = i * 3;
#pragma ccc if
        if (x[i] % 3 < 1) z[i] = i * 5;
    }
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += stride) {
#pragma ccc if
        if (x[i] % 5 < 2) y[i] += i;
#pragma ccc if
        if (x[i] % 11 < 2) z[i] += x[i];
    }
}
