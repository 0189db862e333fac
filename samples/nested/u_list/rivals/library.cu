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

    for (int base = blockIdx.x * blockDim.x; base < count; base += stride) {
        const int i = base + threadIdx.x, mine = min(i, count - 1), leaf = leaves[mine];
        const int begin = first[leaf], end = i < count ? first[leaf + 1] : begin;
        const Potential sum = cte::for_each_index<BY, 128, cte::disjoint>(
            begin, end, map, cte::plus(), Potential(0), targets[mine]);
        if (i < count) potentials[i] = sum;
    }
}
