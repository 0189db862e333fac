// The library: the threads of a warp share out the atoms of their points as BY says. What comes back
// for a point are two sums: of its owner, and of all.

#include <cte.cuh>

#include "../becke.cuh"

struct Cells {
    Sum own, total;
};

extern "C" __global__ void __launch_bounds__(128, 8)
becke(int size, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, const Vector* __restrict__ near, int most, double* weights)
{
    const int stride = gridDim.x * blockDim.x;
    const auto map = [=](int k, int owner, int count, Vector point) {
        const Sum kept = cell(near + owner * most, count, k, point);
        return Cells{k == 0 ? kept : 0, kept};
    };
    const auto reduce = cte::commutative([](Cells left, Cells right) {
        return Cells{left.own + right.own, left.total + right.total};
    });

    for (int base = blockIdx.x * blockDim.x; base < size; base += stride) {
        const int i = base + threadIdx.x, mine = min(i, size - 1);
        const int count = i < size ? counts[i] : 0;
        const Cells found = cte::for_each_index<BY, 128, cte::disjoint>(
            0, count, map, reduce, Cells{0, 0}, owners[mine], count, points[mine]);
        if (i < size) weights[i] = (double)found.own / (double)found.total;
    }
}
