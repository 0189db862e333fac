// The library: the threads of a warp share out the links of their vertices as BY says.

#include <cte.cuh>

#include "../spread.cuh"

extern "C" __global__ void __launch_bounds__(256, 5)
gather(int vertices, const int* __restrict__ indptr, const int* __restrict__ indices,
       const double* __restrict__ shares, double damping, double* __restrict__ ranks)
{
    const int stride = gridDim.x * blockDim.x;
    const auto map = [=](int e) { return shares[indices[e]]; };

    for (int base = blockIdx.x * blockDim.x; base < vertices; base += stride) {
        const int v = base + threadIdx.x;
        const int begin = indptr[min(v, vertices)], end = indptr[min(v + 1, vertices)];
        const double sum =
            cte::for_each_index<BY, 256, cte::scanned>(begin, end, map, cte::plus(), 0.0);
        if (v < vertices) ranks[v] = fma(damping, sum, 1 - damping);
    }
}
