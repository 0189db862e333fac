// run: grid=1 block=64 args=u32[300]=0 s32:300
// The rest of the iteration, which goes with the path, reads the array that the path fills.
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned a[4];
        unsigned v = 0;
        bool c = i % 3 == 0;
#pragma ccc if
        if (c) {
            for (int j = 0; j < 4; j++) a[j] = i * j + 3;
            a[i & 3] = 9;
            v = 1;
        }
        if (c) v += a[(i >> 2) & 3];
        out[i] = v;
    }
}
