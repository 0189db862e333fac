// run: grid=1 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
// A function that allocates on the stack is called in the path, through another one.
#include <alloca.h>
__device__ __noinline__ unsigned inner(const unsigned *x, unsigned n, unsigned v) {
    unsigned *scratch = (unsigned *)alloca(4 * (v % 7 + 1));
    for (unsigned j = 0; j <= v % 7; ++j) scratch[j] = x[(v + j) % n];
    return scratch[x[v] % (v % 7 + 1)];
}
__device__ __noinline__ unsigned outer(const unsigned *x, unsigned n, unsigned v) {
    return inner(x, n, v) * 3 + inner(x, n, v + 1);
}
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] & 1) y[i] = outer(x, n, x[i]);
    }
}
