// run: grid=1 block=64 args=s32:300 u32[300]~0:100 u32[300]=0
// The end of the loop depends on a call of a function that touches no memory: each lane calls it for itself.
__device__ __noinline__ unsigned mix(unsigned p, unsigned q) {
    for (unsigned j = 0; j < (q & 7); ++j) p = p * 1664525u + (q >> j);
    return p ^ q;
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (i % 3 == 0) y[i] = 1;
        if (mix(5, threadIdx.x + i) % 4 == 0) break;
    }
}
// options: strategy=collect
