// run: grid=1 block=64 args=s32[400]~0:30 s32[1]=64 s32[400]=0 s32:140
// A sum of sums, with tasks that are fetched behind them, which their lanes do once.
extern "C" __global__ void __launch_bounds__(128) k(const int *__restrict__ x, int *__restrict__ next, int *__restrict__ out, int n) {
    int i = threadIdx.x;
#pragma ccc for
    while (i < n) {
        int left = x[i], s = 0;
#pragma ccc while
        while (left > 0) {
            int t = (left * 7) % 11;
#pragma ccc while
            while (t > 0) { s += t * left; t -= 1 + (s & 1); }
            left -= 1 + (s & 1);
        }
        out[i] = s;
        i = atomicAdd(next, 1);
    }
}
// options: strategy=merge
