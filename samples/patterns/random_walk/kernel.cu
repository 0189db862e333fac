// Random walks from the centre of a ball, until they are absorbed or leave it: how far they came.
//
// Each thread takes several walks one after another, and its random numbers go on from one to the
// next. So walks cannot be handed to other lanes; a lane can only begin its next one earlier.

#include "walk.cuh"
#include "../../same_task.cuh"

extern "C" __global__ void __launch_bounds__(256)
random_walk(int walkers, int walks, unsigned absorbed, int radius,
            const unsigned* __restrict__ seeds, unsigned* reach)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int w = blockIdx.x * blockDim.x + threadIdx.x; w < walkers; w += stride) {
        unsigned random = seeds[task_of(w)], sum = 0;
        for (int walk = 0; walk < walks; ++walk) {
            Place at = {0, 0, 0};
            bool alive = true;
            #pragma ccc while
            while (alive) alive = step(at, random, absorbed, radius);
            sum += square(at);
        }
        reach[w] = sum;
    }
}
