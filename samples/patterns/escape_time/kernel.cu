// How many turns scattered points of the plane stay within a circle of radius 2 under z -> z * z + c.
//
// Neighbouring pixels of a picture of this set mostly agree; scattered points do not.

#include "../../same_task.cuh"

extern "C" __global__ void __launch_bounds__(256)
escape_time(int count, int most, const float* __restrict__ re, const float* __restrict__ im,
            int* turns)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const float cx = re[task_of(i)], cy = im[task_of(i)];
        float x = 0, y = 0;
        int turn = 0;
        #pragma ccc while
        while (turn < most && x * x + y * y < 4) {
            const float next = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = next;
            ++turn;
        }
        turns[i] = turn;
    }
}
