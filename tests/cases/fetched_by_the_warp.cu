// run: grid=2 block=96 args=s32:900 s32[1]=0 u32[900]~0:100 u32[900]=0
// A warp fetches its next iterations together, behind the path: all lanes meet in the shuffle.
extern "C" __global__ void __launch_bounds__(96)
k(int n, int *next, const unsigned *x, unsigned *y) {
    int lane = threadIdx.x & 31, first = 0;
    if (lane == 0) first = atomicAdd(next, 32);
    first = __shfl_sync(0xffffffff, first, 0);
#pragma ccc for
    while (first < n) {
        int i = first + lane;
        if (i < n) {
#pragma ccc if
            if (x[i] < 25) y[i] = x[i] * x[i] + i;
        }
        if (lane == 0) first = atomicAdd(next, 32);
        first = __shfl_sync(0xffffffff, first, 0);
    }
}
