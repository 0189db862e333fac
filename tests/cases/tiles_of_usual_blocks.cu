// run: grid=2 block=256 args=s32:3000 u32[3000]~0:100000 u32[3000]=0
// options: strategy=tile(5)
// Stacks for blocks of any size would not fit: those of more than 256 threads run the loop as it was.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = x[i], s = v;
#pragma ccc if
        if (v % 3 == 0)
            for (int k = 0; k < 12; k++) s = s * 1664525u + (s >> 7) + i;
        y[i] = s * 17;
    }
}
