// run: grid=1 block=64 args=s32:300 u32[300]~0:100 u32[300]=0
// The end of the loop depends on a call that would go with the task: it reads what the path writes.
__device__ __noinline__ unsigned mix(const unsigned *p, unsigned q) {
    unsigned r = p[q % 300];
    for (unsigned j = 0; j < (q & 7); ++j) r = r * 1664525u + (q >> j);
    return r ^ q;
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (i % 3 == 0) y[i] = 1;
        if (mix(y, threadIdx.x + i) % 4 == 0) break;
    }
}
