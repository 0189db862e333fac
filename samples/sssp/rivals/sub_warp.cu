// Sub-warps (Hong et al., 2011): WIDTH lanes share a vertex, and each takes every WIDTH-th of its
// neighbours.

#include "../settle.cuh"
#include "offer.cuh"

extern "C" __global__ void __launch_bounds__(256)
relax(int vertices, const unsigned* __restrict__ mask, const int* __restrict__ indptr,
      const int* __restrict__ indices, const int* __restrict__ weights,
      const int* __restrict__ costs, int* offers)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;

    for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; v < vertices; v += stride)
        if (cost_fell(mask, v))
            offer(costs[v], indptr[v] + lane, indptr[v + 1], WIDTH, indices, weights, offers);
}
