#pragma once

// Takes over what was offered, and sets the bits of `mask`, all 0 before. *changed becomes 1 if
// there was any.
extern "C" __global__ void __launch_bounds__(256)
settle(int vertices, const int* __restrict__ offers, int* costs, unsigned* mask, int* changed)
{
    const int stride = gridDim.x * blockDim.x;

    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) {
        if (offers[v] < costs[v]) {
            costs[v] = offers[v];
            atomicOr(&mask[v >> 5], 1u << (v & 31));
            *changed = 1;
        }
    }
}
