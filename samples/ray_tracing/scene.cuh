// A scene of spheres, what a ray meets in it, and what a pixel shows.
//
// A sphere is its centre and radius, a paint is red, green, blue and the share of light reflected.

#pragma once

#include "../same_task.cuh"

struct Hit {
    int sphere;  // -1: none
    float distance;
};

__device__ __forceinline__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 operator*(float s, float3 a)
{
    return make_float3(s * a.x, s * a.y, s * a.z);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ float3 centre_of(float4 sphere)
{
    return make_float3(sphere.x, sphere.y, sphere.z);
}

// The ray enters the sphere at this distance; a negative one means that it does not.
__device__ __forceinline__ float entry(float3 origin, float3 direction, float4 sphere)
{
    const float3 towards = centre_of(sphere) - origin;
    const float along = dot(towards, direction);
    const float3 beside = towards - along * direction;
    const float inside = sphere.w * sphere.w - dot(beside, beside);
    return inside > 0.0f ? along - sqrtf(inside) : -1.0f;
}

__device__ __forceinline__ Hit
nearest(float3 origin, float3 direction, const float4* __restrict__ spheres, int count)
{
    Hit hit = {-1, 1e30f};
    for (int i = 0; i < count; ++i) {
        const float distance = entry(origin, direction, spheres[i]);
        if (distance > 0.0f && distance < hit.distance) hit = {i, distance};
    }
    return hit;
}

__device__ __forceinline__ bool
hidden(float3 origin, float3 direction, const float4* __restrict__ spheres, int count)
{
    for (int i = 0; i < count; ++i)
        if (entry(origin, direction, spheres[i]) > 0.0f) return true;
    return false;
}

__device__ __forceinline__ float3 sky(float3 direction)
{
    const float height = 0.5f * direction.y + 0.5f;
    return make_float3(1.0f - 0.6f * height, 1.0f - 0.4f * height, 1.0f);
}

// What a paint makes of sunlight from straight ahead (1) to behind (-1).
__device__ __forceinline__ float3 lit(float4 paint, float cosine)
{
    return (0.25f + 0.75f * fmaxf(cosine, 0.0f)) * make_float3(paint.x, paint.y, paint.z);
}

__device__ __forceinline__ float3
shade(float3 origin, float3 direction, Hit hit, const float4* __restrict__ spheres,
      const float4* __restrict__ paints, int count)
{
    const float3 sun = make_float3(0.48f, 0.80f, 0.36f);
    const float4 sphere = spheres[hit.sphere];
    const float4 paint = paints[hit.sphere];
    const float3 surface = origin + hit.distance * direction;
    const float3 normal = 1.0f / sphere.w * (surface - centre_of(sphere));
    const float3 start = surface + 1e-3f * normal;

    const float cosine = dot(normal, sun);
    const bool shadow = cosine > 0.0f && hidden(start, sun, spheres, count);
    const float3 own = lit(paint, shadow ? 0.0f : cosine);

    const float3 mirrored = direction - 2.0f * dot(direction, normal) * normal;
    const Hit other = nearest(start, mirrored, spheres, count);
    float3 seen = sky(mirrored);
    if (other.sphere >= 0) {
        const float4 there = spheres[other.sphere];
        const float3 facing = start + other.distance * mirrored - centre_of(there);
        seen = lit(paints[other.sphere], dot(facing, sun) / there.w);
    }
    return (1.0f - paint.w) * own + paint.w * seen;
}

// From the eye, at the origin, through a pixel.
__device__ __forceinline__ float3 view(int number, int width, int height)
{
    const int pixel = task_of(number);
    const float x = (pixel % width - 0.5f * (width - 1)) / height;
    const float y = (0.5f * (height - 1) - pixel / width) / height;
    return rsqrtf(x * x + y * y + 1.0f) * make_float3(x, y, -1.0f);
}

__device__ __forceinline__ void show(int pixel, float3 colour, float* image)
{
    image[3 * pixel] = colour.x;
    image[3 * pixel + 1] = colour.y;
    image[3 * pixel + 2] = colour.z;
}
