// No branch at all: each lane takes its own terms from a table, and the shorter polynomials are
// filled up with zeros in front, which change no bit.

#include "../polynomials.cuh"

const int MOST_TERMS = 23;

template <int N>
__device__ __forceinline__ void fill(double (*table)[3], Branch branch, const double (&terms)[N])
{
    const int zeros = MOST_TERMS - N;
    for (int k = threadIdx.x; k < MOST_TERMS; k += blockDim.x)
        table[k][branch] = k < zeros ? 0.0 : terms[k - zeros];
}

extern "C" __global__ void __launch_bounds__(256)
inverse_erf(int count, const double* __restrict__ x, double* y)
{
    __shared__ double table[MOST_TERMS][3];
    fill(table, CENTRAL, CENTRAL_TERMS);
    fill(table, TAIL, TAIL_TERMS);
    fill(table, FAR_TAIL, FAR_TAIL_TERMS);
    __syncthreads();

    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        const double w = rarity(x[i]);
        const Branch mine = branch(w);
        const double root = sqrt(w);
        const double t = mine == CENTRAL ? w - 3.125 : mine == TAIL ? root - 3.25 : root - 5.0;
        double sum = table[0][mine];
        #pragma unroll
        for (int k = 1; k < MOST_TERMS; ++k) sum = fma(sum, t, table[k][mine]);
        y[i] = sum * x[i];
    }
}
