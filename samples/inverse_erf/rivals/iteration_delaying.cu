// Iteration delaying (Han and Abdelrahman, 2011): in each round a warp runs the branch that most of
// its lanes want. These go on to their next values, and the others keep theirs.

#include "../../warp_stack.cuh"
#include "../polynomials.cuh"

extern "C" __global__ void __launch_bounds__(256)
inverse_erf(int count, const double* __restrict__ x, double* y)
{
    const int stride = gridDim.x * blockDim.x;
    int next = blockIdx.x * blockDim.x + threadIdx.x;
    int i = -1;  // -1: this lane has no value
    double value, w;

    while (__any_sync(ALL_LANES, i >= 0 || next < count)) {
        if (i < 0 && next < count) {
            i = next;
            value = x[i];
            w = rarity(value);
            next += stride;
        }
        const int wanted = i < 0 ? -1 : branch(w);
        const int centrals = __popc(__ballot_sync(ALL_LANES, wanted == CENTRAL));
        const int tails = __popc(__ballot_sync(ALL_LANES, wanted == TAIL));
        const int far_tails = __popc(__ballot_sync(ALL_LANES, wanted == FAR_TAIL));
        if (centrals >= max(tails, far_tails)) {
            if (wanted == CENTRAL) y[i] = central(w) * value;
            if (wanted == CENTRAL) i = -1;
        } else if (tails >= far_tails) {
            if (wanted == TAIL) y[i] = tail(w) * value;
            if (wanted == TAIL) i = -1;
        } else {
            if (wanted == FAR_TAIL) y[i] = far_tail(w) * value;
            if (wanted == FAR_TAIL) i = -1;
        }
    }
}
