// The library: the threads of a warp share out the entries of their rows as BY says.

#include <cte.cuh>

extern "C" __global__ void __launch_bounds__(256, 5)
spmv(int rows, const int* __restrict__ indptr, const int* __restrict__ indices,
     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y)
{
    const int stride = gridDim.x * blockDim.x;
    const auto map = [=](int k) { return values[k] * x[indices[k]]; };

    for (int base = blockIdx.x * blockDim.x; base < rows; base += stride) {
        const int row = base + threadIdx.x;
        const int begin = indptr[min(row, rows)], end = indptr[min(row + 1, rows)];
        const float sum = cte::for_each_index<BY, 256, cte::scanned>(
            begin, end, map, cte::plus(), 0.0f);
        if (row < rows) y[row] = sum;
    }
}
