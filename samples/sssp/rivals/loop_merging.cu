// Loop merging: both loops are one, and a lane goes to its next vertex as soon as it is done.

#include "../../warp_stack.cuh"
#include "../settle.cuh"
#include "offer.cuh"

extern "C" __global__ void __launch_bounds__(256)
relax(int vertices, const unsigned* __restrict__ mask, const int* __restrict__ indptr,
      const int* __restrict__ indices, const int* __restrict__ weights,
      const int* __restrict__ costs, int* offers)
{
    const int stride = gridDim.x * blockDim.x;
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int e = 0, end = 0, cost = 0;

    while (__any_sync(ALL_LANES, e < end || v < vertices)) {
        if (e == end && v < vertices) {
            if (cost_fell(mask, v)) {
                e = indptr[v];
                end = indptr[v + 1];
                cost = costs[v];
            }
            v += stride;
        }
        if (e < end) {
            offer(cost, e, e + 1, 1, indices, weights, offers);
            ++e;
        }
    }
}
