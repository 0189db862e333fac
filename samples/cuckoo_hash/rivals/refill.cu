// Refill: when at least IDLE lanes of a warp are done, they take new pairs from a counter.

#include "../../task_counter.cuh"
#include "../../warp_stack.cuh"
#include "insertion.cuh"

__device__ __forceinline__ void
insert_all(int count, unsigned slots, const Pair* __restrict__ pairs, Pair* table, int* lost)
{
    Insertion insertion;
    bool busy = false, more = true;

    for (;;) {
        const unsigned idle = __ballot_sync(ALL_LANES, !busy);
        if (busy) evict(insertion, slots, table);
        if (more && __popc(idle) >= IDLE) {
            const int first = take_tasks(__popc(idle));
            const int i = first + __popc(idle & lanes_below());
            more = first < count;
            if (!busy && i < count) {
                insertion = begin(pairs[i], slots, table);
                busy = true;
            }
        }
        if (busy && !goes_on(insertion)) {
            finish(insertion, lost);
            busy = false;
        }
        if (!__any_sync(ALL_LANES, busy || more)) break;
    }
    take_no_more();
}
