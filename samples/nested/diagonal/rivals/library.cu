// The library: the threads of a warp share out the entries of their rows as BY says.

#include <cte.cuh>

extern "C" __global__ void __launch_bounds__(256, 8)
diagonal(int rows, const int* __restrict__ indptr, const int* __restrict__ indices,
         const float* __restrict__ values, float* __restrict__ found)
{
    const int stride = gridDim.x * blockDim.x;
    const auto map = [=](int k, int row) { return indices[k] == row ? values[k] : 0.0f; };

    for (int base = blockIdx.x * blockDim.x; base < rows; base += stride) {
        const int row = base + threadIdx.x;
        const int begin = indptr[min(row, rows)], end = indptr[min(row + 1, rows)];
        const float sum = cte::for_each_index<BY, 256, cte::scanned>(
            begin, end, map, cte::plus(), 0.0f, row);
        if (row < rows) found[row] = sum;
    }
}
