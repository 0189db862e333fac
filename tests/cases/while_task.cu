// run: grid=2 block=64 args=s32:200 u32[200]~0:70 u32[200]=0
// Lanes whose task ends take another; what follows the loop runs for the right task.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i] + 1, steps = 0;
#pragma ccc while
        while (a != 1) {
            a = a & 1 ? 3 * a + 1 : a / 2;
            ++steps;
        }
        y[i] = steps;
    }
}
