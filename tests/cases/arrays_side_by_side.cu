// run: grid=1 block=64 args=u32[300]=0 s32:300
// Two arrays of the thread in one frame: only one of them is used in the path.
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned a[8], b[8];
        for (int j = 0; j < 8; j++) a[j] = i * j + 1;
        out[i] = a[i % 8];
#pragma ccc if
        if (i % 3 == 0) {
            for (int j = 0; j < 8; j++) b[j] = i ^ j;
            for (unsigned k = 0; k < 5; k++) {
                b[(b[k] + k) & 7] += k;
            }
            out[i] += b[i & 7];
        }
    }
}
// options: strategy=queue
