// run: grid=1 block=96 args=s32:560 u32[800]~0:5000 u32[800]=0 u32[8]=0
// Cases that make one value or two, or nothing; one has a loop, one an atomic.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *counts) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned a = x[i], r = a, s = 1;
#pragma ccc switch
        switch (a % 6) {
        case 0:
            for (unsigned turn = 0; turn < a % 11; ++turn) r = r * 3 + turn;
            s = r & 31;
            break;
        case 1:
            atomicAdd(&counts[a % 8], a);
            break;
        case 2:
            r = 7;
            break;
        case 3:
            r = a / (a % 13 + 1) % 17;
            break;
        default:
            r = a + 1;
        }
        y[i] = r * s;
    }
}
// options: strategy=tile(3)
