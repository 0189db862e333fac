// Sub-warps: WIDTH lanes share a point, and each takes every WIDTH-th of its atoms.

#include "../becke.cuh"

extern "C" __global__ void __launch_bounds__(128)
becke(int size, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, const Vector* __restrict__ near, int most, double* weights)
{
    const int lane = threadIdx.x % WIDTH;
    const int stride = gridDim.x * blockDim.x / WIDTH;
    const unsigned together = 0xffffffff >> (32 - WIDTH) << (threadIdx.x % 32 - lane);

    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH; i < size; i += stride) {
        const Vector* atoms = near + owners[i] * most;
        const Vector point = points[i];
        const int count = counts[i];
        Sum own = 0, total = 0;
        for (int k = lane; k < count; k += WIDTH) {
            const Sum kept = cell(atoms, count, k, point);
            if (k == 0) own = kept;
            total += kept;
        }
        #pragma unroll
        for (int other = 1; other < WIDTH; other *= 2)
            total += __shfl_xor_sync(together, total, other);
        if (lane == 0) weights[i] = (double)own / (double)total;
    }
}
