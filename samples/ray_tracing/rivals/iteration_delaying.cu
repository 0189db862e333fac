// Iteration delaying (Han and Abdelrahman, 2011): a lane that sees a sphere waits with its pixel
// until at least WAITING lanes do. The others go on to their next pixels.

#include "../../warp_stack.cuh"
#include "../scene.cuh"

extern "C" __global__ void __launch_bounds__(256)
trace(int width, int height, int count, const float4* __restrict__ spheres,
      const float4* __restrict__ paints, float* image)
{
    const int stride = gridDim.x * blockDim.x;
    const float3 eye = make_float3(0.0f, 0.0f, 0.0f);
    int next = blockIdx.x * blockDim.x + threadIdx.x, pixel = 0;
    float3 direction;
    Hit hit = {-1, 0.0f};

    while (__any_sync(ALL_LANES, hit.sphere >= 0 || next < width * height)) {
        if (hit.sphere < 0 && next < width * height) {
            pixel = next;
            next += stride;
            direction = view(pixel, width, height);
            hit = nearest(eye, direction, spheres, count);
            if (hit.sphere < 0) show(pixel, sky(direction), image);
        }
        const int waiting = __popc(__ballot_sync(ALL_LANES, hit.sphere >= 0));
        const bool more = __any_sync(ALL_LANES, hit.sphere < 0 && next < width * height);
        if (hit.sphere >= 0 && (waiting >= WAITING || !more)) {
            show(pixel, shade(eye, direction, hit, spheres, paints, count), image);
            hit.sphere = -1;
        }
    }
}
