// The U-list of a fast multipole method: at each point, the potential of the points in the leaves
// that touch its own, which is among them.

#include "points.cuh"

// Target i lies in leaf leaves[i]. Leaf b has the points from begins[b] to begins[b + 1], and touches
// the leaves in `near` from first[b] to first[b + 1].
extern "C" __global__ void __launch_bounds__(128)
u_list(int count, const float4* __restrict__ targets, const int* __restrict__ leaves,
       const float4* __restrict__ points, const int* __restrict__ begins,
       const int* __restrict__ first, const int* __restrict__ near,
       Potential* __restrict__ potentials)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const float4 target = targets[i];
        const int leaf = leaves[i], end = first[leaf + 1];
        Potential sum = 0;
        #pragma ccc for variable
        for (int k = first[leaf]; k < end; ++k) {
            const int other = near[k];
            sum += potential(points, begins[other], begins[other + 1], target);
        }
        potentials[i] = sum;
    }
}
