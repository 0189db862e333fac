// One round of single-source shortest paths over a graph in compressed sparse rows, as Harish and
// Narayanan split it: `relax` offers costs to neighbours, `settle` accepts those that are lower.
//
// Bit v of `mask` is set where the cost of vertex v fell in the round before. Costs are read from
// one array and offered in another, so that no vertex sees a cost of its own round.

#include "settle.cuh"

extern "C" __global__ void __launch_bounds__(256)
relax(int vertices, const unsigned* __restrict__ mask, const int* __restrict__ indptr,
      const int* __restrict__ indices, const int* __restrict__ weights,
      const int* __restrict__ costs, int* offers)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) {
        #pragma ccc if
        if (mask[v >> 5] >> (v & 31) & 1) {
            const int cost = costs[v];
            const int end = indptr[v + 1];
            #pragma ccc for variable
            for (int e = indptr[v]; e < end; ++e)
                atomicMin(&offers[indices[e]], cost + weights[e]);
        }
    }
}
