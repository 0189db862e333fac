#pragma once

const double RESOLUTION = 4294967296.0;  // 2^32: shares in this unit add up exactly in any order

// What each vertex gives to any of those that it links to.
extern "C" __global__ void __launch_bounds__(256)
spread(int vertices, const int* __restrict__ degrees, const double* __restrict__ ranks,
       double* __restrict__ shares)
{
    const int stride = gridDim.x * blockDim.x;

    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride)
        shares[v] = degrees[v] ? rint(RESOLUTION * ranks[v] / degrees[v]) / RESOLUTION : 0.0;
}
