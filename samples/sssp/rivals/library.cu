// The library: the threads of a warp share out the neighbours of their vertices as BY says.

#include <cte.cuh>

#include "../settle.cuh"
#include "offer.cuh"

extern "C" __global__ void __launch_bounds__(256, 5)
relax(int vertices, const unsigned* __restrict__ mask, const int* __restrict__ indptr,
      const int* __restrict__ indices, const int* __restrict__ weights,
      const int* __restrict__ costs, int* offers)
{
    const int stride = gridDim.x * blockDim.x;
    const auto map = [=](int e, int cost) { atomicMin(&offers[indices[e]], cost + weights[e]); };

    for (int base = blockIdx.x * blockDim.x; base < vertices; base += stride) {
        const int v = base + threadIdx.x;
        const bool mine = v < vertices && cost_fell(mask, v);
        const int begin = mine ? indptr[v] : 0, end = mine ? indptr[v + 1] : 0;
        cte::for_each<BY, 256, cte::disjoint>(begin, end, map, mine ? costs[v] : 0);
    }
}
