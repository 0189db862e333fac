// Context collection by hand: an insertion is saved after any eviction. A warp goes on as long as
// saved ones fill its idle lanes; otherwise it saves all, and begins new ones.
//
// The stack is SHARED memory or registers.

#include "../../warp_stack.cuh"
#include "insertion.cuh"

__device__ __forceinline__ void
insert_all(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost)
{
#ifdef SHARED
    __shared__ SharedStack<Insertion, 32>::Memory memory[8];
    SharedStack<Insertion, 32> stack(memory[threadIdx.x / 32]);
#else
    RegisterStack<Insertion> stack;
#endif
    const int stride = gridDim.x * blockDim.x;
    Insertion insertion;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, i < count);
         i += stride) {
        bool busy = false;
        if (i < count) {
            insertion = begin(pairs[i], slots, table);
            busy = goes_on(insertion);
        }
        while (stack.fill(busy, insertion)) {
            evict(insertion, slots, table);
            busy = goes_on(insertion);
            if (!busy) finish(insertion, lost);
        }
    }
    if (stack.pop(insertion)) {
        while (goes_on(insertion)) evict(insertion, slots, table);
        finish(insertion, lost);
    }
}
