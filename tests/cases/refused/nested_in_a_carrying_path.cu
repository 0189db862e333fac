// run: grid=1 block=64 args=s32[300]~0:9 s32[65]~0:24 s32[300]=0 s32:300
// A branch in a loop that has the tasks of the loop around it: it would have to take both along.
extern "C" __global__ void __launch_bounds__(64) k(const int *x, const int *poles, int *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int sum = 0;
#pragma ccc while
        for (int left = x[i]; left > 0; left--) {
            int own = left;
#pragma ccc while
            for (int p = 0; p < poles[(i * 5 + left) % 64]; p++) {
#pragma ccc if
                if ((own & 3) == 1) own = own * 7 + p;
                own++;
            }
            sum ^= own;
        }
        out[i] = sum;
    }
}
// options: strategy=merge
