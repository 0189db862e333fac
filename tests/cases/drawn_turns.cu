// run: grid=2 block=64 args=s32[1]=0 u32[500]~0:40 u32[500]=0 s32:500 s32:128
// Turns draw numbers from a counter, which comes to its end by itself, whoever waits; what they
// write is found by the number that was drawn.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(int *next, const unsigned *x, unsigned *y, int n, int m) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < m; i += 128) {
        int drawn;
#pragma ccc while
        while ((drawn = atomicAdd(next, 1)) < n) {
            unsigned value = drawn;
            for (unsigned k = 0; k < x[drawn]; ++k) value = value * 3 + k;
            y[drawn] = value;
        }
    }
}
