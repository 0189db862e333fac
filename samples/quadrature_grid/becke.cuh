// Becke's weight of a point among its near atoms: for each of them the product, over all others, of
// what it keeps of the point before the other; and of these products the owner's share.
//
// Nothing but what is written as fma() is fused: the sample is compiled with -fmad=false. Products
// add up in fixed point, where their order makes no difference.

#pragma once

const double RESOLUTION = 72057594037927936.0;  // 2^56: sums of 80 products fit 64 bits

typedef long long Sum;  // in units of 1 / RESOLUTION

struct Vector {
    double x, y, z;
};

__device__ __forceinline__ Vector operator-(Vector a, Vector b)
{
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}

__device__ __forceinline__ double squared(Vector a)
{
    return fma(a.z, a.z, fma(a.y, a.y, a.x * a.x));
}

// Seen from a point, what an atom keeps of it before another one. At 1.0 the point is as good as at
// the other atom, at -1.0 it is at this one.
__device__ __forceinline__ double share(double nearness)
{
    #pragma unroll
    for (int k = 0; k < 3; ++k) nearness *= fma(-0.5 * nearness, nearness, 1.5);
    return fma(-0.5, nearness, 0.5);
}

// What atom `own` keeps of a point before all others.
__device__ __forceinline__ Sum
cell(const Vector* __restrict__ atoms, int count, int own, Vector point)
{
    const Vector seen = atoms[own] - point;
    const double distance = sqrt(squared(seen));
    double product = 1.0;
    for (int k = 0; k < count; ++k) {
        const Vector other = atoms[k] - point;
        const double farther = distance - sqrt(squared(other));
        if (k != own) product *= share(farther * rsqrt(squared(seen - other)));
    }
    return __double2ll_rn(RESOLUTION * product);
}
