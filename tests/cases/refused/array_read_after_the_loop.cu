// run: grid=1 block=64 args=u32[300]=0 u32[64]=0 s32:300
// What tasks leave in an array is read after the loop.
extern "C" __global__ void k(unsigned *out, unsigned *o2, int n) {
    unsigned a[4] = {threadIdx.x, 1, 2, 3};
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (i % 3 == 0) {
            unsigned s = 0;
            for (int j = 0; j < 4; j++) a[(i + j) & 3] = j * i;
            s = a[i & 3];
            out[i] = s;
        }
    }
    o2[threadIdx.x] = a[n & 3];
}
