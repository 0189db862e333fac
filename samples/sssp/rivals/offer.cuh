// What the rivals do with a vertex whose cost fell.

#pragma once

__device__ __forceinline__ bool cost_fell(const unsigned* mask, int v)
{
    return mask[v >> 5] >> (v & 31) & 1;
}

// Along edges from `e` on, each `step` behind the one before: offer what the way from here costs.
__device__ __forceinline__ void
offer(int cost, int e, int end, int step, const int* __restrict__ indices,
      const int* __restrict__ weights, int* offers)
{
    for (; e < end; e += step) atomicMin(&offers[indices[e]], cost + weights[e]);
}
