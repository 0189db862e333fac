// What the rivals do with a vertex of this level.

#pragma once

// Give a neighbour the next level if it has none yet.
__device__ __forceinline__ void reach(int neighbour, int depth, int* levels, int* done)
{
    if (levels[neighbour] == -1) {
        levels[neighbour] = depth + 1;
        *done = 0;
    }
}

__device__ __forceinline__ void
visit(int v, int depth, const int* __restrict__ indptr, const int* __restrict__ indices,
      int* levels, int* done)
{
    const int end = indptr[v + 1];
    for (int e = indptr[v]; e < end; ++e) reach(indices[e], depth, levels, done);
}
