// Tasks whose sizes grow along the lanes of a warp; each piece is 20 multiply-additions to make and
// 20 to add. The numbers are small integers, so that sums are exact in every order.

#pragma once

#include "../../same_task.cuh"

__device__ __forceinline__ int size_of(int task, int quadratic)
{
    const int place = task_of(task) % 32;
    return quadratic ? place * place / 8 : 4 * place;
}

// What is given as 1, 1 and 0 where the kernel is launched, so that nothing is folded.
struct Steps {
    float factor, step, nothing;
};

__device__ __forceinline__ float made(int k, Steps steps)
{
    float value = k % 16;
    #pragma unroll
    for (int i = 0; i < 20; ++i) value = fmaf(value, steps.factor, steps.step);
    return value;
}

__device__ __forceinline__ float added(float left, float right, Steps steps)
{
    float value = left + right;
    #pragma unroll
    for (int i = 0; i < 20; ++i) value = fmaf(value, steps.factor, steps.nothing);
    return value;
}
