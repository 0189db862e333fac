// Loop merging: both loops are one, and a lane goes to its next vertex as soon as it is done.

#include "../../warp_stack.cuh"
#include "visit.cuh"

extern "C" __global__ void __launch_bounds__(256)
bfs(int vertices, int depth, const int* __restrict__ indptr, const int* __restrict__ indices,
    int* levels, int* done)
{
    const int stride = gridDim.x * blockDim.x;
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    int e = 0, end = 0;

    while (__any_sync(ALL_LANES, e < end || v < vertices)) {
        if (e == end && v < vertices) {
            if (levels[v] == depth) {
                e = indptr[v];
                end = indptr[v + 1];
            }
            v += stride;
        }
        if (e < end) reach(indices[e++], depth, levels, done);
    }
}
