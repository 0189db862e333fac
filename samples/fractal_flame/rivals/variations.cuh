// A variation by its number, for the rivals: where that is known, only its own code is left.

#pragma once

#include "../flame.cuh"

__device__ __forceinline__ Point vary(unsigned variation, Point p)
{
    const float squared = p.x * p.x + p.y * p.y + 1e-9f;
    const float radius = sqrtf(squared);
    switch (variation) {
    case 0: return p;
    case 1: return sinusoidal(p);
    case 2: return spherical(p, squared);
    case 3: return swirl(p, squared);
    case 4: return horseshoe(p, radius);
    case 5: return polar(p, radius);
    case 6: return handkerchief(p, radius);
    case 7: return heart(p, radius);
    case 8: return exponential(p);
    default: return power(p, radius);
    }
}
