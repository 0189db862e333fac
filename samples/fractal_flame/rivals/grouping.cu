// Grouping: one match of the lanes' variations puts each point in the queue of its own, and a queue
// runs when it holds 32.

#include "../../warp_stack.cuh"
#include "variations.cuh"

extern "C" __global__ void __launch_bounds__(256)
flame(unsigned points, unsigned seed, unsigned side, unsigned* histogram)
{
    __shared__ Point all_queues[8][VARIATIONS][64];
    __shared__ int all_counts[8][32];
    Point(*const queues)[64] = all_queues[threadIdx.x / 32];
    int* const counts = all_counts[threadIdx.x / 32];
    const unsigned lane = threadIdx.x % 32;
    const unsigned stride = gridDim.x * blockDim.x;

    const auto run = [&](int least) {
        unsigned ready = __ballot_sync(ALL_LANES, lane < VARIATIONS && counts[lane] >= least);
        for (; ready; ready &= ready - 1) {
            const int variation = __ffs(ready) - 1;
            const int place = counts[variation] - 1 - (int)lane;
            Point point = {};
            if (place >= 0) point = queues[variation][place];
            __syncwarp();
            if (lane == 0) counts[variation] = max(counts[variation] - 32, 0);
            __syncwarp();
            if (place >= 0) count(vary(variation, point), side, histogram);
        }
    };

    counts[lane] = 0;
    __syncwarp();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, i < points);
         i += stride) {
        const Drawn drawn = draw(i, seed);
        const unsigned mine = i < points ? drawn.variation : 31;
        const unsigned alike = __match_any_sync(ALL_LANES, mine);
        const int place = counts[mine] + __popc(alike & lanes_below());
        __syncwarp();
        if (mine < VARIATIONS) {
            queues[mine][place] = drawn.point;
            if (alike >> lane == 1) counts[mine] = place + 1;  // the last of them
        }
        __syncwarp();
        run(32);
    }
    run(1);
}
