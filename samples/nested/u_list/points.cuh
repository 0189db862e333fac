// Points with charges, and what those of a leaf make at another point.
//
// Nothing but what is written as fmaf() is fused: the sample is compiled with -fmad=false. What the
// leaves make adds up in fixed point, where their order makes no difference.

#pragma once

const float RESOLUTION = 16777216.0f;  // 2^24

typedef long long Potential;  // in units of 1 / RESOLUTION

// The potential at `target` of the points from `begin` to `end`; at itself a point makes none.
__device__ __forceinline__ Potential
potential(const float4* __restrict__ points, int begin, int end, float4 target)
{
    float sum = 0;
    for (int i = begin; i < end; ++i) {
        const float4 source = points[i];
        const float x = source.x - target.x, y = source.y - target.y, z = source.z - target.z;
        const float squared = fmaf(x, x, fmaf(y, y, z * z));
        sum = fmaf(source.w, squared > 0 ? rsqrtf(squared) : 0.0f, sum);
    }
    return __float2ll_rn(RESOLUTION * sum);
}
