// Nested loops whose inner one is as long as the place of the task in its warp tells.

#include "tasks.cuh"

extern "C" __global__ void __launch_bounds__(256)
walk(int tasks, int quadratic, float factor, float step, float nothing, float* __restrict__ sums)
{
    const int stride = gridDim.x * blockDim.x;
    const Steps steps = {factor, step, nothing};

    #pragma ccc for
    for (int task = blockIdx.x * blockDim.x + threadIdx.x; task < tasks; task += stride) {
        const int size = size_of(task, quadratic);
        float sum = 0;
        #pragma ccc for variable
        for (int k = 0; k < size; ++k) sum = added(sum, made(k, steps), steps);
        sums[task] = sum;
    }
}
