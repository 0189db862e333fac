// run: grid=1 block=64 args=u32[1200]~0:99 u32[1200]~0:9 s32:1000
// The part of x that a leads to is told apart from b; what else x leads to is not, and is b.
__device__ unsigned *kept;
extern "C" __global__ void __launch_bounds__(64) k(unsigned *x, const unsigned *__restrict__ u,
                                                   int n) {
    if (threadIdx.x == 0) kept = x;
    __syncthreads();
    unsigned *a = x + 1100, *b = kept;
#pragma ccc for noalias(a, b)
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (u[i] < 3) {
            unsigned h = a[u[i]];
            for (int k = 0; k < 5; k++) h = h * 1664525u + 1013904223u;
            x[i] = h;
        }
        i += (b[i] & 1) * 64;
    }
}
