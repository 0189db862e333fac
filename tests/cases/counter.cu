// run: grid=3 block=70 args=u32[900]=0 s32:900 u32[900]~0:40
// The lanes of all warps take iterations from one counter: of 70 threads a block, and 32 at a time.
extern "C" __global__ void k(unsigned *out, int n, const unsigned *turns) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = i, left = turns[i];
        #pragma ccc while strategy(counter(2))
        while (left > 0) {
            x = x * 1664525 + 1013904223;
            left -= x >> 31 ? 1 : left > 1 ? 2 : 1;
        }
        out[i] = x;
    }
}
