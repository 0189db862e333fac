// A sparse matrix in compressed rows times a vector, a row for each thread.

extern "C" __global__ void __launch_bounds__(256)
spmv(int rows, const int* __restrict__ indptr, const int* __restrict__ indices,
     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += stride) {
        const int end = indptr[row + 1];
        float sum = 0;
        #pragma ccc for variable reduction(+: sum)
        for (int k = indptr[row]; k < end; ++k) sum += values[k] * x[indices[k]];
        y[row] = sum;
    }
}
