// run: grid=2 block=48 args=s32:120 u32[1001]~0:5 u32[8000]=0
// Three levels: a loop in a loop, each with its own stack, and a branch in the inner one.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const unsigned *__restrict__ x, unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc for variable
        for (unsigned j = 0; j < x[i]; ++j) {
            unsigned count = x[200 + i + j];
#pragma ccc for variable
            for (unsigned l = 0; l < count; ++l) {
#pragma ccc if
                if (x[400 + i + 2 * l] > 3) y[i * 40 + j * 6 + l] = i + j * 100 + l * 10000;
            }
        }
    }
}
