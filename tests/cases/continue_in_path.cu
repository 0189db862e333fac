// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[900]=0
// A continue inside the path leaves out the rest of the iteration: the rest goes with the task.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 40) {
            y[i] = a + 1;
            if (a % 3 == 0) continue;
            y[i] = a * 2;
        }
        z[i] = a + 5;
    }
}
