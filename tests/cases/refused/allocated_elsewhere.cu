// run: grid=1 block=32 args=u32[512]=0 u32[256]~0:1000000 s32[32]~1:9 s32:256
// What each lane allocates lies elsewhere: its address means nothing to another lane.
extern "C" __global__ void k(unsigned *out, const unsigned *x, const int *sz, int n) {
    int m = sz[threadIdx.x];
    volatile unsigned *pad = (volatile unsigned *)__builtin_alloca(m * 64);
    for (int k = 0; k < m * 16; k++) pad[k] = threadIdx.x * 1000 + k;
    volatile unsigned *q = (volatile unsigned *)__builtin_alloca(m < 100 ? 64 : m);
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned h = x[i] * 2654435761u;
#pragma ccc if
        if (h & 0x100) {
            for (int k = 0; k < 16; k++) q[k] = h + k;
            out[i] = q[h & 15];
        }
    }
    unsigned s = 0;
    for (int k = 0; k < m * 16; k++) s = s * 31 + pad[k];
    out[n + threadIdx.x] = s;
}
