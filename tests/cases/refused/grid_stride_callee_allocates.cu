// run: grid=4 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
// A function that allocates on the stack is called.
#include <alloca.h>
__device__ __noinline__ unsigned inner(const unsigned *x, unsigned n, unsigned v) {
    unsigned *scratch = (unsigned *)alloca(4 * (v % 7 + 1));
    for (unsigned j = 0; j <= v % 7; ++j) scratch[j] = x[(v + j) % n];
    return scratch[x[v] % (v % 7 + 1)];
}
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] = inner(x, n, x[i]);
}
