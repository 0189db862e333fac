// The library: the threads of a warp share out the neighbours of their vertices as BY says.

#include <cte.cuh>

#include "visit.cuh"

extern "C" __global__ void __launch_bounds__(256)
bfs(int vertices, int depth, const int* __restrict__ indptr, const int* __restrict__ indices,
    int* levels, int* done)
{
    const int stride = gridDim.x * blockDim.x;
    const auto map = [=](int e) { reach(indices[e], depth, levels, done); };

    for (int base = blockIdx.x * blockDim.x; base < vertices; base += stride) {
        const int v = base + threadIdx.x;
        const bool mine = v < vertices && levels[v] == depth;
        const int begin = mine ? indptr[v] : 0, end = mine ? indptr[v + 1] : 0;
        cte::for_each<BY, 256, cte::disjoint>(begin, end, map);
    }
}
