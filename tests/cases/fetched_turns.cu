// run: grid=2 block=64 args=s32:300 s32[1]=0 u32[300]~1:100 u32[300]=0 u32[1]=0
// An inner loop in a persistent one, which asks in its head for what to do.
extern "C" __global__ void __launch_bounds__(64)
k(int n, int *next, const unsigned *x, unsigned *y, unsigned *sum) {
    unsigned s = 0;
#pragma ccc for reduction(+: s)
    while (true) {
        int i = atomicAdd(next, 3);
        if (i >= n) break;
        unsigned v = x[i], turns = 0;
#pragma ccc while
        while (v != 1 && turns < 40) {
            v = v % 2 ? 3 * v + 1 : v / 2;
            ++turns;
        }
        y[i] = turns;
        s += turns;
    }
    atomicAdd(sum, s);
}
