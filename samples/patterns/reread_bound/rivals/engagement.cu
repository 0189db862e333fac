// Engaging the warp (Khorasani, 2016, section 4.2): the neighbours of 32 vertices are joined to one
// list, through which the whole warp goes. The ends of the lists are read once.

#include "../../../joined_lists.cuh"
#include "../../../warp_stack.cuh"
#include "visit.cuh"

extern "C" __global__ void __launch_bounds__(256)
reread_bound(int vertices, int depth, const int* row, const int* column, int* levels, int* done)
{
    __shared__ int all_ends[8][32], all_starts[8][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int stride = gridDim.x * blockDim.x;
    int* const ends = all_ends[warp];
    int* const starts = all_starts[warp];  // where a list begins, less its place in the joined one

    for (int v = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, v < vertices);
         v += stride) {
        const bool mine = v < vertices && levels[v] == depth;
        if (!__any_sync(ALL_LANES, mine)) continue;
        const int begin = mine ? row[v] : 0, length = mine ? row[v + 1] - begin : 0;
        join(ends, length);
        starts[lane] = begin - (ends[lane] - length);
        __syncwarp();
        for (int k = lane; k < ends[31]; k += 32)
            reach(column[starts[lane_of(ends, k)] + k], depth, levels, done);
        __syncwarp();
    }
}
