// run: grid=2 block=64 args=s32:400 s32[400]~0:1000 s32[400]=0 s32[128]=0
// Rests run in their order, by their lanes: they may add up, and leave the loop with the sum. What
// the next iteration begins with is computed at once.
extern "C" __global__ void __launch_bounds__(64) k(int n, const int *x, int *y, int *sums) {
    int sum = 0, step = 3;
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
#pragma ccc for reduction(+: sum)
    for (int i = thread; i < n; i += step * 32) {
        int r = x[i];
        if (r == 999) break;
#pragma ccc if
        if (r % 3 == 0) r = r * r % 1237;
        sum += r;
        y[i] = r;
        step = i & 64 ? 3 : 5;
    }
    sums[thread] = sum;
}
// options: strategy=tile(7)
