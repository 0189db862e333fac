// The inverse error function: one of three polynomials of w, as M. Giles fitted them for double
// precision (GPU Computing Gems, Jade Edition, chapter 10).
//
// Multiplications and additions that belong together are written as fma(): the sample is compiled
// with -fmad=false, so that nothing else is fused, in no version.

#include "polynomials.cuh"

extern "C" __global__ void __launch_bounds__(256)
inverse_erf(int count, const double* __restrict__ x, double* y)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const double w = rarity(x[i]);
        double ratio;
        #pragma ccc switch
        switch (branch(w)) {
        case CENTRAL:
            ratio = central(w);
            break;
        case TAIL:
            ratio = tail(w);
            break;
        default:
            ratio = far_tail(w);
            break;
        }
        y[i] = ratio * x[i];
    }
}
