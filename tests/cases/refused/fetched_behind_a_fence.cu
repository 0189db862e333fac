// run: grid=2 block=64 args=s32:900 s32[1]=0 u32[900]~0:100 u32[900]=0
// A fence in the path keeps the next fetch behind it.
extern "C" __global__ void k(int n, int *next, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
#pragma ccc if
        if (x[i] < 25) {
            y[i] = x[i] * 3;
            __threadfence();
        }
    }
}
