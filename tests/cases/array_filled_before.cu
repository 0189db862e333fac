// run: grid=1 block=64 args=u32[400]=0 u32[400]~0:1000 s32:400
// The array is filled before the branch, and goes with the task; nobody reads it behind.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, const unsigned *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned a[6];
        for (int j = 0; j < 6; j++) a[j] = x[(i + j * 7) % n];
#pragma ccc if
        if (x[i] % 3 == 1) {
            unsigned s = 0; int at = x[i] % 6;
            for (int j = 0; j < 20; j++) { s = s * 5 + a[at]; a[at] ^= s >> 3; at = (at + s) % 6; }
            out[i] = s;
        }
    }
}
// options: strategy=queue
