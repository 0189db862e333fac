// run: grid=1 block=32 args=u32[64]=0 s32:64
// The rest of the iteration must go with the task (it needs v), and calls a function with the
// address of an array of the thread's own.
__device__ __noinline__ void fill(unsigned *a, unsigned i) {
    for (int j = 0; j < 8; j++) a[j] = i * 8 + j;
}
__device__ __noinline__ unsigned total(const unsigned *a) {
    unsigned s = 0;
    for (int j = 0; j < 8; j++) s += a[j];
    return s;
}
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned buf[8];
        fill(buf, i);
        unsigned v = 0;
#pragma ccc if
        if (i % 3 == 0) v = i / 7;
        out[i] = v + total(buf);
    }
}
