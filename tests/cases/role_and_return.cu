// run: grid=2 block=64 args=s32:700 u32[700]~0:100 u32[700]=0 u32[128]=0
// Some lanes have the loop as their role, and return after it; the others do something else.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *x, unsigned *y, unsigned *others) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    if (threadIdx.x % 32 < 20) {
#pragma ccc for
        for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
            if (x[i] < 25) y[i] = x[i] * x[i] + i;
        }
        return;
    }
    others[thread] = thread * 7;
}
// options: strategy=queue
