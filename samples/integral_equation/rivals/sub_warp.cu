// Sub-warps: WIDTH lanes share an observer. They test a box each, and then go together through the
// sources of each that is near.

#include "../near_field.cuh"

extern "C" __global__ void __launch_bounds__(128)
near_field(int size, float wavenumber, const float4* __restrict__ observers,
           const int* __restrict__ domains, const int* __restrict__ first,
           const int* __restrict__ candidates, const float4* __restrict__ boxes,
           const int* __restrict__ begins, const float4* __restrict__ sources, Field* fields)
{
    const int lane = threadIdx.x % WIDTH, before = threadIdx.x % 32 - lane;
    const int stride = gridDim.x * blockDim.x / WIDTH;
    const unsigned together = 0xffffffff >> (32 - WIDTH) << before;

    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; i < size; i += stride) {
        const float4 observer = observers[i];
        const int end = first[domains[i] + 1];
        float real = 0.0f, imaginary = 0.0f;
        for (int k = first[domains[i]]; k < end; k += WIDTH) {
            const bool mine = k + lane < end && is_near(observer, boxes[candidates[k + lane]]);
            unsigned near = (__ballot_sync(together, mine) & together) >> before;
            for (; near; near &= near - 1) {
                const int box = candidates[k + __ffs(near) - 1];
                const int last = begins[box + 1];
                for (int s = begins[box] + lane; s < last; s += WIDTH)
                    add_wave(observer, sources[s], wavenumber, real, imaginary);
            }
        }
        #pragma unroll
        for (int other = 1; other < WIDTH; other *= 2) {
            real += __shfl_xor_sync(together, real, other);
            imaginary += __shfl_xor_sync(together, imaginary, other);
        }
        if (lane == 0) add(&fields[i], real, imaginary);
    }
}
