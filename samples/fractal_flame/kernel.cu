// Fractal flames: points of an iterated function system, bent by one of ten variations, counted in
// a histogram.

#include "flame.cuh"

extern "C" __global__ void __launch_bounds__(256)
flame(unsigned points, unsigned seed, unsigned side, unsigned* histogram)
{
    const unsigned stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += stride) {
        const Drawn drawn = draw(i, seed);
        Point point = drawn.point;
        const float squared = point.x * point.x + point.y * point.y + 1e-9f;
        const float radius = sqrtf(squared);
        #pragma ccc switch
        switch (drawn.variation) {
        case 0: break;  // linear
        case 1: point = sinusoidal(point); break;
        case 2: point = spherical(point, squared); break;
        case 3: point = swirl(point, squared); break;
        case 4: point = horseshoe(point, radius); break;
        case 5: point = polar(point, radius); break;
        case 6: point = handkerchief(point, radius); break;
        case 7: point = heart(point, radius); break;
        case 8: point = exponential(point); break;
        default: point = power(point, radius); break;
        }
        count(point, side, histogram);
    }
}
