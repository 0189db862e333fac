// One iteration of PageRank by pulling: `spread` divides the rank of each vertex among its links,
// `gather` adds up what comes in. Ranks have a mean of 1.

#include "spread.cuh"

// `indices` are the vertices that link to each one.
extern "C" __global__ void __launch_bounds__(256)
gather(int vertices, const int* __restrict__ indptr, const int* __restrict__ indices,
       const double* __restrict__ shares, double damping, double* __restrict__ ranks)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < vertices; v += stride) {
        const int end = indptr[v + 1];
        double sum = 0;
        #pragma ccc for variable reduction(+: sum)
        for (int e = indptr[v]; e < end; ++e) sum += shares[indices[e]];
        ranks[v] = fma(damping, sum, 1 - damping);
    }
}
