// run: grid=3 block=20 args=s32:300 s32[1]=0 u32[300]~0:100 u32[300]=0
// A warp of 20 lanes fetches at the top of the loop, whose rest goes with the task.
extern "C" __global__ void __launch_bounds__(20)
k(int n, int *next, const unsigned *x, unsigned *y) {
    int lane = threadIdx.x, first = 0;
#pragma ccc for
    while (true) {
        if (lane == 0) first = atomicAdd(next, 20);
        first = __shfl_sync(0xffffffff, first, 0);
        if (first >= n) break;
        int i = first + lane;
        if (i >= n) continue;
        unsigned v = x[i];
#pragma ccc if
        if (v < 25)
            for (int t = 0; t < 3; ++t) v = v * v + i;
        y[i] = v;
    }
}
