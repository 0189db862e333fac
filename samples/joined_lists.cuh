// For hand-written rivals that engage the whole warp: the lists of its 32 lanes, joined to one. All
// lanes call every function together.

#pragma once

// Where the list of each lane ends in the joined one: ends[31] is how many items there are. Shared
// memory of one warp.
__device__ __forceinline__ void join(int* ends, int length)
{
    const int lane = threadIdx.x % 32;
    int end = length;
    #pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int before = __shfl_up_sync(0xffffffff, end, step);
        if (lane >= step) end += before;
    }
    __syncwarp();  // nobody reads the last ones any more
    ends[lane] = end;
    __syncwarp();
}

// The lane whose list holds an item.
__device__ __forceinline__ int lane_of(const int* ends, int item)
{
    int lane = 0;
    #pragma unroll
    for (int step = 16; step; step /= 2)
        if (ends[lane + step - 1] <= item) lane += step;
    return lane;
}
