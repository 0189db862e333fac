// The near field of an integral equation solver, one thread for each observer. Of the boxes round
// the domain that an observer lies in, those near to it add the waves of their sources, one by one;
// the others are left to the far field.
//
// Threads other than the observer's own may run its boxes, so that sums are atomic, and in fixed
// point, where their order makes no difference.

#include "near_field.cuh"

// Domain d looks at the boxes candidates[first[d]] up to candidates[first[d + 1]], without that one.
// Box b is its centre and the square of its reach, and its sources begin at sources[begins[b]].
extern "C" __global__ void __launch_bounds__(128)
near_field(int size, float wavenumber, const float4* __restrict__ observers,
           const int* __restrict__ domains, const int* __restrict__ first,
           const int* __restrict__ candidates, const float4* __restrict__ boxes,
           const int* __restrict__ begins, const float4* __restrict__ sources, Field* fields)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    const float4 observer = observers[i];
    const int end = first[domains[i] + 1];

    #pragma ccc for
    for (int k = first[domains[i]]; k < end; ++k) {
        const int box = candidates[k];
        #pragma ccc if
        if (is_near(observer, boxes[box])) {
            float real = 0.0f, imaginary = 0.0f;
            const int last = begins[box + 1];
            for (int s = begins[box]; s < last; ++s)
                add_wave(observer, sources[s], wavenumber, real, imaginary);
            add(&fields[i], real, imaginary);
        }
    }
}
