// The library: the threads of a warp share out the leaves of their points as BY says.

#include <cte.cuh>

#include "../points.cuh"

extern "C" __global__ void __launch_bounds__(128)
u_list(int count, const float4* __restrict__ targets, const int* __restrict__ leaves,
       const float4* __restrict__ points, const int* __restrict__ begins,
       const int* __restrict__ first, const int* __restrict__ near,
       Potential* __restrict__ potentials)
{
    const int stride = gridDim.x * blockDim.x;
    const auto map = [=](int k, float4 target) {
        const int other = near[k];
        return potential(points, begins[other], begins[other + 1], target);
    };

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const int leaf = leaves[i];
        potentials[i] = cte::for_each_index<BY, 128, cte::disjoint>(
            first[leaf], first[leaf + 1], map, cte::plus(), Potential(0), targets[i]);
    }
}
