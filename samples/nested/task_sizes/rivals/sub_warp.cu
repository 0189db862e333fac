// Sub-warps: WIDTH lanes share a task, and each takes every WIDTH-th of its pieces.

#include "../tasks.cuh"

extern "C" __global__ void __launch_bounds__(256)
walk(int tasks, int quadratic, float factor, float step, float nothing, float* __restrict__ sums)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;
    const unsigned together = 0xffffffff >> (32 - WIDTH) << (threadIdx.x % 32 - lane);
    const Steps steps = {factor, step, nothing};

    for (int task = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; task < tasks; task += stride) {
        const int size = size_of(task, quadratic);
        float sum = 0;
        for (int k = lane; k < size; k += WIDTH) sum = added(sum, made(k, steps), steps);
        #pragma unroll
        for (int other = WIDTH / 2; other; other /= 2)
            sum = added(sum, __shfl_xor_sync(together, sum, other), steps);
        if (lane == 0) sums[task] = sum;
    }
}
