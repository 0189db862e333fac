// Loop merging: both loops are one, and a lane takes its next pair as soon as it has inserted one.

#include "../../warp_stack.cuh"
#include "insertion.cuh"

__device__ __forceinline__ void
insert_all(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost)
{
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Insertion insertion;
    bool busy = false;

    while (__any_sync(ALL_LANES, busy || i < count)) {
        if (busy) {
            evict(insertion, slots, table);
        } else if (i < count) {
            insertion = begin(pairs[i], slots, table);
            i += stride;
            busy = true;
        }
        if (busy && !goes_on(insertion)) {
            finish(insertion, lost);
            busy = false;
        }
    }
}
