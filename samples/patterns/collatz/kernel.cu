// How many steps of the Collatz map lead from each number to 1.
//
// Four instructions a turn, and from 0 to several hundred turns: the lanes of a warp part early.

#include "../../same_task.cuh"

extern "C" __global__ void __launch_bounds__(256)
collatz(int count, unsigned long long first, int* steps)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        unsigned long long x = first + task_of(i);
        int taken = 0;
        #pragma ccc while
        while (x != 1) {
            x = x & 1 ? 3 * x + 1 : x >> 1;
            ++taken;
        }
        steps[i] = taken;
    }
}
