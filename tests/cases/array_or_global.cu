// run: grid=1 block=32 args=u32[256]=0 u32[256]=0 u32[256]~0:1000000 s32:256
// A pointer is the thread's array or global memory; the store through it does not surely fill the
// array, which goes with the task.
extern "C" __global__ void k(unsigned *out, unsigned *g, const unsigned *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned h = x[i] * 2654435761u;
        unsigned a[4];
        a[0] = h;
        a[1] = h >> 3;
        a[2] = h >> 5;
        a[3] = h >> 7;
        a[h & 3] ^= 77u;
#pragma ccc if
        if (h & 0x100) {
            unsigned *p = &a[0];
            if (h & 0x200) {
                p = &g[i];
                for (int k = 0; k < (int)(h >> 29) + 1; k++) h = h * 1664525u + 1013904223u;
            }
            *(volatile unsigned *)p = h ^ 5u;
            unsigned s = *(volatile unsigned *)&a[0];
            out[i] = s;
        }
    }
}
