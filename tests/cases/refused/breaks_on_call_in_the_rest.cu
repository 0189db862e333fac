// run: grid=1 block=64 args=s32:300 u32[300]~0:100 u32[300]=0
// The rest goes with the task, and calls the function that tells where the loop ends: its lane would
// have to call it, too.
__device__ __noinline__ unsigned mix(unsigned p, unsigned q) {
    for (unsigned j = 0; j < (q & 7); ++j) p = p * 1664525u + (q >> j);
    return p ^ q;
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        unsigned v = x[i];
#pragma ccc if
        if (i % 3 == 0) v = v * v / 7;
        y[i] = v;
        if (mix(5, threadIdx.x + i) % 4 == 0) break;
    }
}
