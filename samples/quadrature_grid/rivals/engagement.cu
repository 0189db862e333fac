// Engaging the warp (Khorasani, 2016, section 4.2): the atoms of 32 points are joined to one list,
// through which the whole warp goes, 32 at a time.

#include "../../joined_lists.cuh"
#include "../becke.cuh"

extern "C" __global__ void __launch_bounds__(128)
becke(int size, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, const Vector* __restrict__ near, int most, double* weights)
{
    __shared__ int ends[4][32];
    __shared__ Sum owns[4][32], totals[4][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; __any_sync(0xffffffff, i < size);
         i += stride) {
        join(ends[warp], i < size ? counts[i] : 0);
        totals[warp][lane] = 0;
        __syncwarp();

        for (int task = lane; task < ends[warp][31]; task += 32) {
            const int mine = lane_of(ends[warp], task);
            const int first = mine ? ends[warp][mine - 1] : 0;
            const int point = i - lane + mine;
            const Vector* atoms = near + owners[point] * most;
            const Sum kept = cell(atoms, ends[warp][mine] - first, task - first, points[point]);
            if (task == first) owns[warp][mine] = kept;
            atomicAdd((unsigned long long*)&totals[warp][mine], (unsigned long long)kept);
        }
        __syncwarp();
        if (i < size) weights[i] = (double)owns[warp][lane] / (double)totals[warp][lane];
    }
}
