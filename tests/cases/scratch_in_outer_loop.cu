// run: grid=1 block=64 args=u32[300]=0 s32:300
// An array that only the path uses, in a loop in a loop.
extern "C" __global__ void k(unsigned *out, int n) {
#pragma unroll 1
    for (int r = 0; r < 4; r++) {
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
            if ((i ^ r) % 3 == 0) {
                unsigned b[8];
                for (unsigned j = 0; j < 8; j++) b[j] = i ^ j;
                for (unsigned k = 0; k < 5; k++) {
                    b[(b[k] + k) & 7] += k;
                }
                out[i] += b[i & 7];
            }
        }
    }
}
// options: strategy=queue
