// Loop merging: the loops over walkers, walks and steps are one loop, in each turn of which every
// lane takes TURNS steps. Where at least IDLE lanes of a warp have no walk, these begin their next
// one.

#include "../../../warp_stack.cuh"
#include "../walk.cuh"

extern "C" __global__ void __launch_bounds__(256)
random_walk(int walkers, int walks, unsigned absorbed, int radius,
            const unsigned* __restrict__ seeds, unsigned* reach)
{
    const int stride = gridDim.x * blockDim.x;
    int w = blockIdx.x * blockDim.x + threadIdx.x, walk = 0;
    unsigned random = w < walkers ? seeds[w] : 0, sum = 0;
    Place at = {0, 0, 0};
    bool alive = false;

    for (;;) {
        if (__popc(__ballot_sync(ALL_LANES, !alive)) >= IDLE) {
            if (!alive && walk == walks && w < walkers) {
                reach[w] = sum;
                w += stride;
                random = w < walkers ? seeds[w] : 0;
                sum = 0;
                walk = 0;
            }
            if (!alive && w < walkers && walk < walks) {
                at = {0, 0, 0};
                ++walk;
                alive = true;
            }
            if (!__any_sync(ALL_LANES, alive)) return;
        }
        if (alive) {
            #pragma unroll
            for (int turn = 0; alive && turn < TURNS; ++turn)
                alive = step(at, random, absorbed, radius);
            if (!alive) sum += square(at);
        }
    }
}
