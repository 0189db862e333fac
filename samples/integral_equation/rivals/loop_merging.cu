// Loop merging: each lane looks for its next near box, and when all have one, they go through their
// sources together.

#include "../near_field.cuh"
#include "../../warp_stack.cuh"

extern "C" __global__ void __launch_bounds__(128)
near_field(int size, float wavenumber, const float4* __restrict__ observers,
           const int* __restrict__ domains, const int* __restrict__ first,
           const int* __restrict__ candidates, const float4* __restrict__ boxes,
           const int* __restrict__ begins, const float4* __restrict__ sources, Field* fields)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool live = i < size;
    const float4 observer = observers[live ? i : 0];
    const int domain = domains[live ? i : 0];
    const int end = live ? first[domain + 1] : 0;
    int k = live ? first[domain] : 0;
    float real = 0.0f, imaginary = 0.0f;

    do {
        while (k < end && !is_near(observer, boxes[candidates[k]])) ++k;
        __syncwarp();
        if (k < end) {
            const int box = candidates[k++];
            const int last = begins[box + 1];
            for (int s = begins[box]; s < last; ++s)
                add_wave(observer, sources[s], wavenumber, real, imaginary);
        }
    } while (__any_sync(ALL_LANES, k < end));
    if (live) add(&fields[i], real, imaginary);
}
