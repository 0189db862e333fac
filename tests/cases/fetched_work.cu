// run: grid=2 block=100 args=s32:900 s32[1]=0 u32[900]~0:100 u32[900]=0 u32[900]=0
// A persistent loop: each thread fetches its next iteration from a counter. The fetch stands behind
// the paths and stays with the thread that gives a task away, also where the rest goes with the
// task; another counter may be used in a path.
extern "C" __global__ void __launch_bounds__(100)
k(int n, int *next, const unsigned *x, unsigned *y, unsigned *seen) {
#pragma ccc for
    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
        unsigned v = x[i];
#pragma ccc if
        if (v < 25) {
            for (int t = 0; t < 3; ++t) v = v * v + i;
            atomicAdd(&seen[v % 900], 1);
        }
        y[i] = v + 1;
    }
}
