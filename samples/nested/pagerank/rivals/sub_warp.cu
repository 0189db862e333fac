// Sub-warps: WIDTH lanes share a vertex, and each takes every WIDTH-th of its links.

#include "../spread.cuh"

extern "C" __global__ void __launch_bounds__(256)
gather(int vertices, const int* __restrict__ indptr, const int* __restrict__ indices,
       const double* __restrict__ shares, double damping, double* __restrict__ ranks)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;
    const unsigned together = 0xffffffff >> (32 - WIDTH) << (threadIdx.x % 32 - lane);

    for (int v = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; v < vertices; v += stride) {
        const int end = indptr[v + 1];
        double sum = 0;
        for (int e = indptr[v] + lane; e < end; e += WIDTH) sum += shares[indices[e]];
        #pragma unroll
        for (int other = WIDTH / 2; other; other /= 2)
            sum += __shfl_xor_sync(together, sum, other);
        if (lane == 0) ranks[v] = fma(damping, sum, 1 - damping);
    }
}
