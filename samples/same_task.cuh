// For bounds: tasks with which the lanes of a warp do not part.

#pragma once

// Which task is done in place of one: itself, or with -DSAME_TASK one of the 32 that a warp does
// together, in each warp another one.
__device__ __forceinline__ int task_of(int number)
{
#ifdef SAME_TASK
    return (number & ~31) | (number >> 5 & 31);
#else
    return number;
#endif
}
