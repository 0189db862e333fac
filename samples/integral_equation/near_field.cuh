// The near field of an integral equation solver: boxes of sources, and what one makes of a point.
//
// Nothing but what is written as fmaf() is fused: the sample is compiled with -fmad=false.

#pragma once

const float RESOLUTION = 4294967296.0f;

struct Field {
    long long real, imaginary;  // in units of 1 / RESOLUTION
};

// Whether the box round `centre` is so near that its sources count one by one.
__device__ __forceinline__ bool is_near(float4 observer, float4 centre)
{
    const float x = observer.x - centre.x, y = observer.y - centre.y, z = observer.z - centre.z;
    return x * x + y * y + z * z < centre.w;
}

// Adds the wave exp(ikr) / r of a source, times its strength.
__device__ __forceinline__ void
add_wave(float4 observer, float4 source, float wavenumber, float& real, float& imaginary)
{
    const float x = observer.x - source.x, y = observer.y - source.y, z = observer.z - source.z;
    const float squared = fmaf(x, x, fmaf(y, y, fmaf(z, z, 1e-6f)));
    const float inverse = rsqrtf(squared);
    const float phase = wavenumber * squared * inverse;
    real = fmaf(source.w * inverse, __cosf(phase), real);
    imaginary = fmaf(source.w * inverse, __sinf(phase), imaginary);
}

// Integers add up to the same in every order.
__device__ __forceinline__ void add(Field* field, float real, float imaginary)
{
    typedef unsigned long long Word;
    atomicAdd((Word*)&field->real, (Word)__float2ll_rn(RESOLUTION * real));
    atomicAdd((Word*)&field->imaginary, (Word)__float2ll_rn(RESOLUTION * imaginary));
}
