// Sub-warps: WIDTH lanes share a path. They look for the nearest sphere among every WIDTH-th each,
// and do the rest alike.

#include "../paths.cuh"

__device__ __forceinline__ Hit nearest_of_all(const Path& path, const Scene& scene)
{
    const int lane = threadIdx.x % WIDTH;
    const unsigned together = 0xffffffff >> (32 - WIDTH) << (threadIdx.x % 32 - lane);
    Hit hit = {-1, 1e30f};
    for (int i = lane; i < scene.count; i += WIDTH)
        meet(hit, path.origin, path.direction, scene.spheres[i], i);
    #pragma unroll
    for (int other = 1; other < WIDTH; other *= 2) {
        const float distance = __shfl_xor_sync(together, hit.distance, other);
        const int sphere = __shfl_xor_sync(together, hit.sphere, other);
        const bool nearer = distance < hit.distance;
        if (nearer || (distance == hit.distance && sphere < hit.sphere)) hit = {sphere, distance};
    }
    return hit;
}

extern "C" __global__ void __launch_bounds__(128)
trace(int width, int height, int samples, unsigned seed, int count,
      const float4* __restrict__ spheres, const float4* __restrict__ paints,
      const int* __restrict__ materials, float* light)
{
    const Scene scene = {count, spheres, paints, materials};
    const int stride = gridDim.x * blockDim.x / WIDTH;
    const int paths = width * height * samples;

    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; i < paths; i += stride) {
        Path path = begin(i, width, height, samples, seed);
        while (scatter(path, scene, nearest_of_all(path, scene))) {}
        if (threadIdx.x % WIDTH == 0) finish(path, light);
    }
}
