// Engaging the warp (Khorasani, 2016, section 4.2): the neighbours of 32 vertices are joined to one
// list, through which the whole warp goes. COLLECT: the vertices are collected first.

#include "../../joined_lists.cuh"
#include "../../warp_stack.cuh"
#include "visit.cuh"

extern "C" __global__ void __launch_bounds__(256)
bfs(int vertices, int depth, const int* __restrict__ indptr, const int* __restrict__ indices,
    int* levels, int* done)
{
    __shared__ int all_ends[8][32], all_starts[8][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int stride = gridDim.x * blockDim.x;
    int* const ends = all_ends[warp];
    int* const starts = all_starts[warp];  // where a list begins, less its place in the joined one

    const auto visit_together = [&](bool mine, int v) {
        const int begin = mine ? indptr[v] : 0, length = mine ? indptr[v + 1] - begin : 0;
        join(ends, length);
        starts[lane] = begin - (ends[lane] - length);
        __syncwarp();
        for (int k = lane; k < ends[31]; k += 32)
            reach(indices[starts[lane_of(ends, k)] + k], depth, levels, done);
        __syncwarp();
    };

#ifdef COLLECT
    __shared__ SharedStack<int, 64>::Memory memory[8];
    SharedStack<int, 64> stack(memory[warp]);
#endif
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, v < vertices);
         v += stride) {
        const bool mine = v < vertices && levels[v] == depth;
#ifdef COLLECT
        stack.push(mine, v);
        if (stack.saved < 32) continue;
        int saved;
        const bool full = stack.pop(saved);
        visit_together(full, saved);
#else
        if (__any_sync(ALL_LANES, mine)) visit_together(mine, v);
#endif
    }
#ifdef COLLECT
    int saved;
    const bool mine = stack.pop(saved);
    visit_together(mine, saved);
#endif
}
