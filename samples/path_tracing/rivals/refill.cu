// Refill: when the paths of at least IDLE lanes of a warp have ended, these take new ones from a
// counter.

#include "../../task_counter.cuh"
#include "../../warp_stack.cuh"
#include "../paths.cuh"

extern "C" __global__ void __launch_bounds__(128)
trace(int width, int height, int samples, unsigned seed, int count,
      const float4* __restrict__ spheres, const float4* __restrict__ paints,
      const int* __restrict__ materials, float* light)
{
    const Scene scene = {count, spheres, paints, materials};
    const int paths = width * height * samples;
    Path path;
    bool alive = false, more = true;

    for (;;) {
        const unsigned idle = __ballot_sync(ALL_LANES, !alive);
        if (more && __popc(idle) >= IDLE) {
            const int first = take_tasks(__popc(idle));
            const int i = first + __popc(idle & lanes_below());
            more = first < paths;
            if (!alive && i < paths) {
                path = begin(i, width, height, samples, seed);
                alive = true;
            }
        }
        if (!__any_sync(ALL_LANES, alive)) break;
        if (alive) {
            alive = bounce(path, scene);
            if (!alive) finish(path, light);
        }
    }
    take_no_more();
}
