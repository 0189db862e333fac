// One primary ray a pixel through a scene of spheres. A pixel that sees a sphere is shaded: a
// shadow ray to the sun, and one reflected ray. The others show the sky.

#include "scene.cuh"

extern "C" __global__ void __launch_bounds__(256)
trace(int width, int height, int count, const float4* __restrict__ spheres,
      const float4* __restrict__ paints, float* image)
{
    const int stride = gridDim.x * blockDim.x;
    const float3 eye = make_float3(0.0f, 0.0f, 0.0f);

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < width * height; i += stride) {
        const float3 direction = view(i, width, height);
        const Hit hit = nearest(eye, direction, spheres, count);
        float3 colour = sky(direction);
        #pragma ccc if
        if (hit.sphere >= 0) colour = shade(eye, direction, hit, spheres, paints, count);
        show(i, colour, image);
    }
}
