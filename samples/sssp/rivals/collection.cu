// Context collection by hand: vertices whose cost fell are saved.
//
// MERGE: a warp fills its idle lanes from the stack and runs, or saves its tasks. Otherwise every
// task is pushed, and 32 are popped and run when there are so many. NESTED: the neighbours that are
// left of a vertex are saved, too, whenever too few lanes have any.

#include "../../warp_stack.cuh"
#include "../settle.cuh"
#include "offer.cuh"

struct Edges {
    int next, end, cost;
};

extern "C" __global__ void __launch_bounds__(256)
relax(int vertices, const unsigned* __restrict__ mask, const int* __restrict__ indptr,
      const int* __restrict__ indices, const int* __restrict__ weights,
      const int* __restrict__ costs, int* offers)
{
    const int warp = threadIdx.x / 32;
    const int stride = gridDim.x * blockDim.x;
    __shared__ SharedStack<int, 64>::Memory memory[8];
    SharedStack<int, 64> stack(memory[warp]);

    const auto finish = [&](Edges edges) {
        offer(edges.cost, edges.next, edges.end, 1, indices, weights, offers);
    };
#ifdef NESTED
    __shared__ SharedStack<Edges, 32>::Memory inner_memory[8];
    SharedStack<Edges, 32> inner(inner_memory[warp]);
    const auto run = [&](bool mine, int v) {
        Edges edges = {0, 0, 0};
        if (mine) edges = {indptr[v], indptr[v + 1], costs[v]};
        while (inner.fill(edges.next < edges.end, edges)) {
            finish({edges.next, edges.next + 1, edges.cost});
            ++edges.next;
        }
    };
#else
    const auto run = [&](bool mine, int v) {
        if (mine) finish({indptr[v], indptr[v + 1], costs[v]});
    };
#endif

    for (int v = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, v < vertices);
         v += stride) {
        const bool mine = v < vertices && cost_fell(mask, v);
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
    if (inner.pop(edges)) finish(edges);
#endif
}
