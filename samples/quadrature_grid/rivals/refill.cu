// Refill: when at least IDLE lanes of a warp are done, they take new points from a counter.

#include "../../task_counter.cuh"
#include "../../warp_stack.cuh"
#include "walk.cuh"

extern "C" __global__ void __launch_bounds__(128)
becke(int size, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, const Vector* __restrict__ near, int most, double* weights)
{
    Walk walk;
    bool busy = false, more = true;

    for (;;) {
        const unsigned idle = __ballot_sync(ALL_LANES, !busy);
        if (more && __popc(idle) >= IDLE) {
            const int first = take_tasks(__popc(idle));
            const int i = first + __popc(idle & lanes_below());
            more = first < size;
            if (!busy && i < size) {
                walk = begin(i, points, owners, counts, most);
                busy = true;
            }
        }
        if (!__any_sync(ALL_LANES, busy)) break;
        if (busy) busy = turn(walk, near, weights);
    }
    take_no_more();
}
