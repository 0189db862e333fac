// Sub-warps (Hong et al., 2011): WIDTH lanes share a vertex, and each takes every WIDTH-th of its
// neighbours.

#include "visit.cuh"

extern "C" __global__ void __launch_bounds__(256)
bfs(int vertices, int depth, const int* __restrict__ indptr, const int* __restrict__ indices,
    int* levels, int* done)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;

    for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; v < vertices; v += stride) {
        if (levels[v] != depth) continue;
        const int end = indptr[v + 1];
        for (int e = indptr[v] + lane; e < end; e += WIDTH) reach(indices[e], depth, levels, done);
    }
}
