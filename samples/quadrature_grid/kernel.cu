// Becke's weights on a molecular quadrature grid (J. Chem. Phys. 88, 2547, 1988): how much of a
// point belongs to the atom that it was made for, given the other atoms near it.

#include "becke.cuh"

// The atoms near a point are counts[i] from near[owners[i] * most] on, its owner first.
extern "C" __global__ void __launch_bounds__(128)
becke(int size, const Vector* __restrict__ points, const int* __restrict__ owners,
      const int* __restrict__ counts, const Vector* __restrict__ near, int most, double* weights)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += stride) {
        const Vector* atoms = near + owners[i] * most;
        const Vector point = points[i];
        const int count = counts[i];
        Sum own = 0, total = 0;
        #pragma ccc for variable
        for (int k = 0; k < count; ++k) {
            const Sum kept = cell(atoms, count, k, point);
            own += k == 0 ? kept : 0;
            total += kept;
        }
        weights[i] = (double)own / (double)total;
    }
}
