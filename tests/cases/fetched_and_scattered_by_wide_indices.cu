// run: grid=2 block=100 args=s32:900 s32[1]=0 s64[900]~0:100 u32[900]=0 u32[900]=0
// What was read is an index where it is multiplied and added to a pointer, also if it is as wide as
// that, as CuPy's are: what is written there is not what the next iteration is fetched from.
extern "C" __global__ void __launch_bounds__(100)
k(int n, int *next, const long long *x, unsigned *y, unsigned *seen) {
#pragma ccc for
    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) {
        unsigned v = x[i];
#pragma ccc if
        if (v < 25) {
            for (int t = 0; t < 3; ++t) v = v * v + i;
            atomicAdd(&seen[x[i]], v);
        }
        atomicAdd(&y[x[i] * 9], v + 1);
    }
}
