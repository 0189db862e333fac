// run: grid=1 block=64 args=s32[1100]~0:4 s32[1100]=1 s32[1100]=1 s32[1100]=1 s32[1100]=1 s32[1100]=1 s32[1100]=1 s32[1100]=1 s32[64]=0 s32:1100
// What a function promises of its pointers is not promised of the kernel's, which are in registers
// that have the same names.
__device__ __noinline__ void walk(const int *step, const int *seen, const int *what,
                                  const int *next, int *out, int n) {
#pragma ccc for noalias(step, seen)
    for (int i = threadIdx.x; i < n; i += 64 * (1 + (next[i] & 1))) {
        int v = what[i] + step[i] + seen[i];
#pragma ccc if
        if (v & 1) {
            for (int k = 0; k < (v & 3) + 200; k++) v = v * 7 + k % (v | 1);
            out[i] = (v & 1) + 2;
        }
    }
}
extern "C" __global__ void __launch_bounds__(64)
k(int *a, int *b, int *c, int *d, int *e, int *f, int *g, int *h, int *o, int n) {
    walk(d, e, f, g, h, n);
    o[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x] + c[threadIdx.x];
}
