// The library: the threads of a warp share out the pieces of their tasks as BY says.

#include <cte.cuh>

#include "../tasks.cuh"

extern "C" __global__ void __launch_bounds__(256)
walk(int tasks, int quadratic, float factor, float step, float nothing, float* __restrict__ sums)
{
    const int stride = gridDim.x * blockDim.x;
    const Steps steps = {factor, step, nothing};
    const auto map = [=](int k) { return made(k, steps); };
    const auto reduce = cte::commutative(
        [=](float left, float right) { return added(left, right, steps); });

    for (int base = blockIdx.x * blockDim.x; base < tasks; base += stride) {
        const int task = base + threadIdx.x;
        const float sum = cte::for_each_index<BY, 256, cte::disjoint>(
            0, task < tasks ? size_of(task, quadratic) : 0, map, reduce, 0.0f);
        if (task < tasks) sums[task] = sum;
    }
}
