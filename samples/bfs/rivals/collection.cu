// Context collection by hand: vertices of this level are saved.
//
// MERGE: a warp fills its idle lanes from the stack and runs, or saves its tasks. Otherwise every
// task is pushed, and 32 are popped and run when there are so many. NESTED: the neighbours that are
// left of a vertex are saved, too, whenever too few lanes have any.

#include "../../warp_stack.cuh"
#include "visit.cuh"

struct Edges {
    int next, end;
};

extern "C" __global__ void __launch_bounds__(256)
bfs(int vertices, int depth, const int* __restrict__ indptr, const int* __restrict__ indices,
    int* levels, int* done)
{
    const int warp = threadIdx.x / 32;
    const int stride = gridDim.x * blockDim.x;
    __shared__ SharedStack<int, 64>::Memory memory[8];
    SharedStack<int, 64> stack(memory[warp]);

#ifdef NESTED
    __shared__ SharedStack<Edges, 32>::Memory inner_memory[8];
    SharedStack<Edges, 32> inner(inner_memory[warp]);
    const auto run = [&](bool mine, int v) {
        Edges edges = {0, 0};
        if (mine) edges = {indptr[v], indptr[v + 1]};
        while (inner.fill(edges.next < edges.end, edges))
            reach(indices[edges.next++], depth, levels, done);
    };
#else
    const auto run = [&](bool mine, int v) {
        if (mine) visit(v, depth, indptr, indices, levels, done);
    };
#endif

    for (int v = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, v < vertices);
         v += stride) {
        const bool mine = v < vertices && levels[v] == depth;
        int saved = v;
#ifdef MERGE
        if (stack.fill(mine, saved)) run(true, saved);
#else
        stack.push(mine, v);
        if (stack.saved < 32) continue;
        const bool full = stack.pop(saved);
        run(full, saved);
#endif
    }
    int saved;
    const bool mine = stack.pop(saved);
    run(mine, saved);
#ifdef NESTED
    Edges edges;
    if (inner.pop(edges))
        while (edges.next < edges.end) reach(indices[edges.next++], depth, levels, done);
#endif
}
