// Context collection by hand: a stack for each variation whose bit is set in COLLECTED, by the rule
// that a warp fills its idle lanes and runs, or saves its tasks.

#include "../../warp_stack.cuh"
#include "variations.cuh"

typedef SharedStack<Point, 32> Stack;

extern "C" __global__ void __launch_bounds__(256)
flame(unsigned points, unsigned seed, unsigned side, unsigned* histogram)
{
    __shared__ Stack::Memory memory[8][__builtin_popcount(COLLECTED)];
    const unsigned stride = gridDim.x * blockDim.x;
    int saved[VARIATIONS] = {};

    const auto stack_of = [&](unsigned variation) {
        const int number = __builtin_popcount(COLLECTED & (1u << variation) - 1);
        Stack stack(memory[threadIdx.x / 32][number]);
        stack.saved = saved[variation];
        return stack;
    };

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(ALL_LANES, i < points);
         i += stride) {
        const bool live = i < points;
        const Drawn drawn = draw(i, seed);
        #pragma unroll
        for (unsigned variation = 0; variation < VARIATIONS; ++variation) {
            if (!(COLLECTED >> variation & 1)) continue;
            Stack stack = stack_of(variation);
            Point point = drawn.point;
            if (stack.fill(live && drawn.variation == variation, point))
                count(vary(variation, point), side, histogram);
            saved[variation] = stack.saved;
        }
        if (live && !(COLLECTED >> drawn.variation & 1))
            count(vary(drawn.variation, drawn.point), side, histogram);
    }
    #pragma unroll
    for (unsigned variation = 0; variation < VARIATIONS; ++variation) {
        if (!(COLLECTED >> variation & 1)) continue;
        Point point;
        if (stack_of(variation).pop(point)) count(vary(variation, point), side, histogram);
    }
}
