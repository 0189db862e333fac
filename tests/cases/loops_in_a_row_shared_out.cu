// run: grid=1 block=64 args=s32:200 s32[200]~0:9 s32[200]~0:12 u32[50000]=0 u32[64]=0
// Tasks of a loop become tasks of one whose turns are shared out among all lanes, in a branch that
// is collected; the other arm does something else.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const int *__restrict__ x, const int *__restrict__ z, unsigned *__restrict__ y,
    unsigned *__restrict__ sums) {
    unsigned sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned value = i;
#pragma ccc if
        if (z[i] & 3) {
#pragma ccc while
            for (int left = x[i]; left > 0; --left) value = value * 3 + left;
#pragma ccc for variable strategy(engage)
            for (int e = 0; e < (z[i] == 7 ? 200 : z[i]); ++e) y[250 * i + e] = value + e;
        } else {
            sum += value;
        }
    }
    sums[threadIdx.x] = sum;
}
// options: strategy=merge
