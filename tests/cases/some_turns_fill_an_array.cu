// run: grid=1 block=64 args=u32[1024]=0 u32[1024]~0:1000000 s32:1024
// The turns fill the whole array, each on another lane perhaps: it goes with the task.
extern "C" __global__ void __launch_bounds__(64) k(unsigned *out, const unsigned *__restrict__ x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned v = x[i], a[8];
        if (v % 3 == 0) {
#pragma ccc for variable
            for (int j = 0; j < 8; j++) a[j] = v * j + i;
            out[i] = a[v & 7] * 3 + a[(v >> 3) & 7];
        }
    }
}
