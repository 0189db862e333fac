// run: grid=2 block=64 args=s32:900 s32[1]=0 u32[900]~0:100 u32[900]=0
// Lanes leave the loop one before the other, and would stay away from the shuffle.
extern "C" __global__ void k(int n, int *next, const unsigned *x, unsigned *y) {
    int lane = threadIdx.x & 31;
#pragma ccc for
    while (true) {
        int first = 0;
        if (lane == 0) first = atomicAdd(next, 32);
        first = __shfl_sync(0xffffffff, first, 0);
        int i = first + lane;
        if (i >= n) break;
#pragma ccc if
        if (x[i] < 25) y[i] = x[i] * x[i] + i;
    }
}
