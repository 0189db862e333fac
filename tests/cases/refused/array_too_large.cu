// run: grid=1 block=64 args=u32[400]=0 u32[400]~0:1000 s32:400
// 256 bytes are too many to go with a task.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, const unsigned *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned a[64]; 
        for (int j = 0; j < 64; j++) a[j] = x[(i + j) % n];
        int c = x[i] & 31; unsigned at = c;
#pragma ccc while
        while (c-- > 0) { a[at & 63] += c; at = a[at & 63]; }
        out[i] = at;
    }
}
