// run: grid=2 block=64 args=s32:400 u32[400]~0:100 u32[400]=0
// A branch that is the whole arm of another one: nvcc leaves one branch for both.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 20) {
#pragma ccc if
            if (true) y[i] = x[i] * 7;
        }
    }
}
// options: strategy=queue
