// What the rivals do with a neighbour of a vertex of this level.

#pragma once

__device__ __forceinline__ void reach(int neighbour, int depth, int* levels, int* done)
{
    if (levels[neighbour] == -1) {
        levels[neighbour] = depth + 1;
        *done = 0;
    }
}
