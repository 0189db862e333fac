// One task of many turns among a million of ten.
//
// The kernel lasts as long as the one task does, whatever is done with the others: its turns follow
// from one another, and what a turn costs is all that counts.

#include "../../same_task.cuh"

extern "C" __global__ void __launch_bounds__(256)
one_long_task(int count, const int* __restrict__ turns, unsigned* result)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        int left = turns[task_of(i)];
        unsigned x = task_of(i);
        #pragma ccc while
        while (left > 0) {
            x = x * 1664525u + 1013904223u;
            x ^= x >> 7;
            --left;
        }
        result[i] = x;
    }
}
