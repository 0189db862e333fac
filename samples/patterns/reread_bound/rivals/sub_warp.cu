// Sub-warps (Hong et al., 2011): WIDTH lanes share a vertex, and each takes every WIDTH-th of its
// neighbours. The end of the list is read once.

#include "visit.cuh"

extern "C" __global__ void __launch_bounds__(256)
reread_bound(int vertices, int depth, const int* row, const int* column, int* levels, int* done)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;

    for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; v < vertices; v += stride) {
        if (levels[v] != depth) continue;
        const int end = row[v + 1];
        for (int e = row[v] + lane; e < end; e += WIDTH) reach(column[e], depth, levels, done);
    }
}
