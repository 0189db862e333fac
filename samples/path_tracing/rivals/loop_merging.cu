// Loop merging: the two loops are one, and a lane begins its next path as soon as one has ended.

#include "../../warp_stack.cuh"
#include "../paths.cuh"

extern "C" __global__ void __launch_bounds__(128)
trace(int width, int height, int samples, unsigned seed, int count,
      const float4* __restrict__ spheres, const float4* __restrict__ paints,
      const int* __restrict__ materials, float* light)
{
    const Scene scene = {count, spheres, paints, materials};
    const int stride = gridDim.x * blockDim.x;
    const int paths = width * height * samples;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Path path;
    bool alive = false;

    while (__any_sync(ALL_LANES, alive || i < paths)) {
        if (!alive && i < paths) {
            path = begin(i, width, height, samples, seed);
            i += stride;
            alive = true;
        }
        if (alive) {
            alive = bounce(path, scene);
            if (!alive) finish(path, light);
        }
    }
}
