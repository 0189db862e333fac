// run: grid=1 block=64 args=s32:250 u32[500]~0:100 u32[500]=0
// Calls of what the driver provides, in a path and beside it.
#include <cassert>
#include <cstdio>
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        assert(x[i] < 100);
#pragma ccc if
        if (x[i] < 25) {
            unsigned *p = (unsigned *)malloc(4 * (x[i] + 1));
            assert(p);
            unsigned sum = 0;
            for (unsigned t = 0; t <= x[i]; ++t) p[t] = t * i;
            for (unsigned t = 0; t <= x[i]; ++t) sum += p[t];
            if (sum == 12) printf("twelve\n");
            y[i] = sum;
            free(p);
        }
    }
}
// options: strategy=queue
