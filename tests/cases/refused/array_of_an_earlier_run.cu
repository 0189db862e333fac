// run: grid=1 block=32 args=u32[256]=0 u32[256]~0:1000000 s32:256
// The loop is run twice; tasks of the second run read what those of the first have written to the
// thread's array.
extern "C" __global__ void k(unsigned *out, const unsigned *x, int n) {
    unsigned a[8];
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += 32) {
            unsigned h = x[i] * 2654435761u;
#pragma ccc if
            if (h & 0x100) {
                unsigned s = h;
                for (int k = 0; k < (int)(h >> 29) + 1; k++) s = s * 1664525u + 1013904223u;
                if (round == 0)
                    a[(i >> 5) & 7] = s + threadIdx.x;
                else
                    out[i] = a[(i >> 5) & 7] + s;
            }
        }
    }
}
