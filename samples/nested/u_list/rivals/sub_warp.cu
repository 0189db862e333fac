// Sub-warps: WIDTH lanes share a point, and each takes every WIDTH-th of the leaves.

#include "../points.cuh"

extern "C" __global__ void __launch_bounds__(128)
u_list(int count, const float4* __restrict__ targets, const int* __restrict__ leaves,
       const float4* __restrict__ points, const int* __restrict__ begins,
       const int* __restrict__ first, const int* __restrict__ near,
       Potential* __restrict__ potentials)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;
    const unsigned together = 0xffffffff >> (32 - WIDTH) << (threadIdx.x % 32 - lane);

    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; i < count; i += stride) {
        const float4 target = targets[i];
        const int leaf = leaves[i], end = first[leaf + 1];
        Potential sum = 0;
        for (int k = first[leaf] + lane; k < end; k += WIDTH) {
            const int other = near[k];
            sum += potential(points, begins[other], begins[other + 1], target);
        }
        #pragma unroll
        for (int other = WIDTH / 2; other; other /= 2)
            sum += __shfl_xor_sync(together, sum, other);
        if (lane == 0) potentials[i] = sum;
    }
}
