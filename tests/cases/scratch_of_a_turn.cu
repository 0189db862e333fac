// run: grid=1 block=64 args=u32[300]=0 s32:70
// A loop fills an array in each turn before the turn reads it.
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned h = i * 2654435761u, s = 0;
#pragma ccc while
        while (h & 15) {
            unsigned a[40];
#pragma unroll 1
            for (int j = 0; j < 40; j++) a[j] = h * j + i;
            a[h % 40] += 7;
            s += a[(h >> 4) % 40];
            h = h * 1664525u + 1013904223u;
            h ^= h >> 13;
        }
        out[i] = s;
    }
}
