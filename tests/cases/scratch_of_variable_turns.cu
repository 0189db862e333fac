// run: grid=1 block=64 args=u32[300]=0 s32:130
// An array that each turn of a loop of independent turns has for itself.
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned c = i % 7 * 5;
#pragma ccc for variable
        for (unsigned k = 0; k < c; k++) {
            unsigned a[5];
            for (int j = 0; j < 5; j++) a[(k + j) % 5] = i + j * k;
            atomicAdd(&out[(i + k) % 300], a[k % 5] ^ a[i % 5]);
        }
    }
}
