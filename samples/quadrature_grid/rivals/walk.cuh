// A point on its way through its atoms, as the rivals hand it from lane to lane.

#pragma once

#include "../becke.cuh"

#pragma pack(push, 4)
struct Walk {
    Vector point;
    int number, count;  // of the point, and of its atoms
    int first;          // of these, in `near`
    int next;
    Sum own, total;
};
#pragma pack(pop)

__device__ __forceinline__ Walk
begin(int number, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, int most)
{
    return {points[number], number, counts[number], owners[number] * most, 0, 0, 0};
}

// One atom. Whether there are more.
__device__ __forceinline__ bool
turn(Walk& walk, const Vector* __restrict__ near, double* weights)
{
    const Sum kept = cell(near + walk.first, walk.count, walk.next, walk.point);
    if (walk.next == 0) walk.own = kept;
    walk.total += kept;
    if (++walk.next < walk.count) return true;
    weights[walk.number] = (double)walk.own / (double)walk.total;
    return false;
}
