// run: grid=1 block=64 args=s32:100 u32[100]~1:99 u32[8]~1:99 u32[100]=0
// options: strategy=merge
// The step of a walk is the same in all its turns, and divided by a number that nobody knows.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const unsigned *__restrict__ x, const unsigned *__restrict__ step, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned at = x[i], turns = 0;
#pragma ccc while
        while (at < 20000) {
            at += step[i & 7] + 1000 / n;
            if (at & 1) at += at >> 3;
            ++turns;
        }
        y[i] = at + turns;
    }
}
