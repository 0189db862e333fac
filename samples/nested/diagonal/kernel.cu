// The diagonal of a sparse matrix in compressed rows, a row for each thread. Entries of a row may
// stand in any order, and equal places add up.

extern "C" __global__ void __launch_bounds__(256)
diagonal(int rows, const int* __restrict__ indptr, const int* __restrict__ indices,
         const float* __restrict__ values, float* __restrict__ found)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += stride) {
        const int end = indptr[row + 1];
        float sum = 0;
        #pragma ccc for variable reduction(+: sum)
        for (int k = indptr[row]; k < end; ++k) sum += indices[k] == row ? values[k] : 0.0f;
        found[row] = sum;
    }
}
