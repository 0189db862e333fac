// Loop merging: the two loops are one, and a lane begins its next point as soon as it is done.

#include "../../warp_stack.cuh"
#include "walk.cuh"

extern "C" __global__ void __launch_bounds__(128)
becke(int size, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, const Vector* __restrict__ near, int most, double* weights)
{
    const int stride = gridDim.x * blockDim.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Walk walk;
    bool busy = false;

    while (__any_sync(ALL_LANES, busy || i < size)) {
        if (!busy && i < size) {
            walk = begin(i, points, owners, counts, most);
            i += stride;
            busy = true;
        }
        if (busy) busy = turn(walk, near, weights);
    }
}
