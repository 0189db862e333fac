// run: grid=1 block=100 args=u32[400]=0 u32[400]~0:1000 s32[400]~0:12 s32:400
// What follows the branch goes with its tasks, up to the loop: there they become tasks of that, as
// lanes do that pass the branch by.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, const unsigned *x, const int *z, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 100) {
        unsigned s = x[i];
#pragma ccc if
        if (s % 3 == 1) {
            for (int j = 0; j < 8; j++) s = s * 5 + (s >> 7);
        }
        int left = z[i];
#pragma ccc while
        while (left > 0) { s = s * 3 + left; left -= 1 + (s & 1); }
        out[i] = s;
    }
}
// options: strategy=queue
