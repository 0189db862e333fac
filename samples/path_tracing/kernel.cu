// A path tracer: from the eye, a ray bounces between spheres until it meets the sky.
//
// Each path writes its own light: nothing depends on the order of the paths.

#include "paths.cuh"

extern "C" __global__ void __launch_bounds__(128)
trace(int width, int height, int samples, unsigned seed, int count,
      const float4* __restrict__ spheres, const float4* __restrict__ paints,
      const int* __restrict__ materials, float* light)
{
    const Scene scene = {count, spheres, paints, materials};
    const int stride = gridDim.x * blockDim.x;
    const int paths = width * height * samples;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < paths; i += stride) {
        Path path = begin(i, width, height, samples, seed);
        bool alive = true;
        #pragma ccc while
        while (alive) alive = bounce(path, scene);
        finish(path, light);
    }
}
