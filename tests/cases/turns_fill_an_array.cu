// run: grid=1 block=64 args=u32[1024]=0 u32[1024]~0:1000000 s32:1024
// The turns are independent of one another, but what follows them reads what they have written: the array goes with the task.
extern "C" __global__ void __launch_bounds__(64) k(unsigned *out, const unsigned *__restrict__ x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned v = x[i], a[8];
        int c = 1 + (v & 7);
#pragma ccc for variable
        for (int j = 0; j < c; j++) a[j] = v * j + i;
        out[i] = a[(v >> 3) % c] * 3 + a[(v >> 9) % c];
    }
}
