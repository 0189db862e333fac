// run: grid=2 block=64 args=s32[300]~0:400 s32[1]=0 s32[1]=0 s32[300]=0 s32:300
// Turns draw numbers, and number what they find by another counter, which no promise tells apart:
// no turn hangs on the second one.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(const int *x, int *next, int *found, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < 128; i += 128) {
        int t;
#pragma ccc while
        while ((t = atomicAdd(next, 1)) < n) {
            int v = x[t];
            while (v > 3) v = v * 7 % 33 - 1;
            if (v & 1) y[atomicAdd(found, 1)] = 7;
        }
    }
}
