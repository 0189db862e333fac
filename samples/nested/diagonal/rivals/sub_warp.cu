// Sub-warps: WIDTH lanes share a row, and each takes every WIDTH-th of its entries.

extern "C" __global__ void __launch_bounds__(256)
diagonal(int rows, const int* __restrict__ indptr, const int* __restrict__ indices,
         const float* __restrict__ values, float* __restrict__ found)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;
    const unsigned together = 0xffffffff >> (32 - WIDTH) << (threadIdx.x % 32 - lane);

    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; row < rows; row += stride) {
        const int end = indptr[row + 1];
        float sum = 0;
        for (int k = indptr[row] + lane; k < end; k += WIDTH)
            sum += indices[k] == row ? values[k] : 0.0f;
        #pragma unroll
        for (int other = WIDTH / 2; other; other /= 2)
            sum += __shfl_xor_sync(together, sum, other);
        if (lane == 0) found[row] = sum;
    }
}
