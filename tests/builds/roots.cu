#include "roots.h"

__global__ void __launch_bounds__(256) roots(float *x, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        #pragma ccc if strategy(queue)
        if (v > 0.5f) {
            for (int j = 0; j < 100; j++) v = 0.5f * (v + x[i] / v);
            x[i] = v;
        }
    }
}

void find_roots(float *x, int n) { roots<<<64, 256>>>(x, n); }
