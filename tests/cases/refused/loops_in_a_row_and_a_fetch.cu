// run: grid=1 block=64 args=s32:200 s32[200]~0:9 s32[200]~0:12 u32[200]=0 u32[1]=0
// The next iteration is fetched behind two loops, where tasks of both would come.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const int *__restrict__ x, const int *__restrict__ z, unsigned *__restrict__ y,
    unsigned *__restrict__ next) {
    int i = atomicAdd(next, 1);
#pragma ccc for
    while (i < n) {
        unsigned value = i;
#pragma ccc while strategy(merge)
        for (int left = x[i]; left > 0; --left) value = value * 3 + left;
        for (int left = z[i]; left > 0; --left) value = value * 5 + left;
        y[i] = value;
        i = atomicAdd(next, 1);
    }
}
