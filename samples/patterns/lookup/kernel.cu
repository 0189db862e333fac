// Cross sections of nuclides at given energies: a binary search each, in tables of all lengths.
//
// A kernel with a thread for each item and a dozen parameters, as a table lookup has. What is the
// same for all lanes has no place in a task's context: two ends, the energy, and the item's number.

#include "../../same_task.cuh"

#pragma ccc grid_stride
extern "C" __global__ void __launch_bounds__(256)
lookup(int count, const float* __restrict__ energy, const int* __restrict__ nuclide,
       const float* __restrict__ density, const int* __restrict__ first,
       const float* __restrict__ grid, const float* __restrict__ elastic,
       const float* __restrict__ absorption, const float* __restrict__ fission, float* scattered,
       float* absorbed, float* split)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float wanted = energy[task_of(i)];
    int low = first[nuclide[task_of(i)]], high = first[nuclide[task_of(i)] + 1] - 1;
    #pragma ccc while
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (grid[middle] > wanted)
            high = middle;
        else
            low = middle;
    }
    const float share = (wanted - grid[low]) / (grid[low + 1] - grid[low]);
    const float amount = density[task_of(i)];
    scattered[i] = amount * (elastic[low] + share * (elastic[low + 1] - elastic[low]));
    absorbed[i] = amount * (absorption[low] + share * (absorption[low + 1] - absorption[low]));
    split[i] = amount * (fission[low] + share * (fission[low + 1] - fission[low]));
}
