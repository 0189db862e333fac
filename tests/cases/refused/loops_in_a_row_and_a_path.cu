// run: grid=1 block=64 args=s32:200 s32[200]~0:9 s32[200]~0:12 u32[200]=0 u32[64]=0
// The first of two loops holds a path: its tasks cannot become tasks of the second loop.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const int *__restrict__ x, const int *__restrict__ z, unsigned *__restrict__ y,
    unsigned *__restrict__ sums) {
    unsigned sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned value = i;
#pragma ccc while strategy(merge)
        for (int left = x[i]; left > 0; --left) {
            value = value * 3 + left;
#pragma ccc if strategy(leave)
            if (value % 5 == 1) sum += value * value % 7;
        }
        for (int left = z[i]; left > 0; --left) value = value * 5 + left;
        y[i] = value;
    }
    sums[threadIdx.x] = sum;
}
