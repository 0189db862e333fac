// For hand-written rivals: tasks handed out to warps from one counter. All 32 lanes of a warp call
// every function together.

#pragma once

__device__ int tasks_taken;
__device__ unsigned warps_done;

// The first of the next `count` tasks, which are this warp's now.
__device__ __forceinline__ int take_tasks(int count)
{
    int first = 0;
    if (threadIdx.x % 32 == 0) first = atomicAdd(&tasks_taken, count);
    return __shfl_sync(0xffffffff, first, 0);
}

// This warp takes no more. The last one of the grid leaves the counter at 0 for the next launch.
__device__ __forceinline__ void take_no_more()
{
    if (threadIdx.x % 32) return;
    const unsigned warps = gridDim.x * (blockDim.x / 32);
    __threadfence();
    if (atomicInc(&warps_done, warps - 1) == warps - 1) tasks_taken = 0;
}
