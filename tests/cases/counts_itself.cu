// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u64[900]=0
// A value of the context that is made from its own value in the iteration before.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned long long *y) {
    unsigned long long count = 1;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        count += 3;
#pragma ccc if
        if (x[i] < 40) y[i] = count * x[i];
    }
}
// options: strategy=queue
