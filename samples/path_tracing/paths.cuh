// The scene of a path tracer, and the paths of light through it.
//
// A sphere is its centre and radius; a paint is red, green, blue and, for metal, how far it blurs
// what it mirrors, for glass its refractive index. Each path has random numbers of its own, begun
// with its number.

#pragma once

#include "../same_task.cuh"

const int MOST_BOUNCES = 50;
const int METAL = 1, GLASS = 2;  // 0: diffuse

struct Scene {
    int count;
    const float4* __restrict__ spheres;
    const float4* __restrict__ paints;
    const int* __restrict__ materials;
};

struct Hit {
    int sphere;  // -1: none
    float distance;
};

struct Path {
    float3 origin, direction, colour;
    unsigned state;  // of its random numbers
    int number, bounces;
};

__device__ __forceinline__ float3 operator+(float3 a, float3 b)
{
    return make_float3(a.x + b.x, a.y + b.y, a.z + b.z);
}

__device__ __forceinline__ float3 operator-(float3 a, float3 b)
{
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

__device__ __forceinline__ float3 operator*(float3 a, float3 b)
{
    return make_float3(a.x * b.x, a.y * b.y, a.z * b.z);
}

__device__ __forceinline__ float3 operator*(float s, float3 a)
{
    return make_float3(s * a.x, s * a.y, s * a.z);
}

__device__ __forceinline__ float dot(float3 a, float3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

__device__ __forceinline__ float3 unit(float3 a)
{
    return rsqrtf(dot(a, a)) * a;
}

__device__ __forceinline__ float3 xyz(float4 a)
{
    return make_float3(a.x, a.y, a.z);
}

// Chris Wellons' "lowbias32".
__device__ __forceinline__ unsigned hash(unsigned h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

// From 0 to 1, without 1.
__device__ __forceinline__ float uniform(unsigned& state)
{
    state = state * 747796405u + 2891336453u;
    return (hash(state) >> 8) * (1.0f / 16777216.0f);
}

// A direction, all being as likely.
__device__ __forceinline__ float3 any_direction(unsigned& state)
{
    const float z = 2.0f * uniform(state) - 1.0f;
    const float angle = 6.2831853f * uniform(state) - 3.14159265f;
    const float radius = sqrtf(1.0f - z * z);
    return make_float3(radius * __cosf(angle), radius * __sinf(angle), z);
}

// A ray from (13, 2, 3) to the middle of the scene, 20 degrees high; x and y from -1 to 1.
__device__ __forceinline__ float3 view(float x, float y)
{
    const float3 ahead = make_float3(-0.9636241f, -0.1482499f, -0.2223748f);
    const float3 right = make_float3(0.2248595f, 0.0f, -0.9743912f);
    const float3 up = make_float3(-0.1444534f, 0.9889499f, -0.0333354f);
    return unit(ahead + 0.2644905f * x * right + 0.1763270f * y * up);
}

// Takes the sphere of that number if a ray meets it before the hit so far.
__device__ __forceinline__ void
meet(Hit& hit, float3 origin, float3 direction, float4 sphere, int number)
{
    const float3 towards = xyz(sphere) - origin;
    const float along = dot(towards, direction);
    const float3 beside = towards - along * direction;
    const float inside = sphere.w * sphere.w - dot(beside, beside);
    if (inside > 0.0f) {
        const float half = sqrtf(inside);
        const float distance = along - half > 1e-3f ? along - half : along + half;
        if (distance > 1e-3f && distance < hit.distance) hit = {number, distance};
    }
}

__device__ __forceinline__ Hit
nearest(float3 origin, float3 direction, const float4* __restrict__ spheres, int count)
{
    Hit hit = {-1, 1e30f};
    for (int i = 0; i < count; ++i) meet(hit, origin, direction, spheres[i], i);
    return hit;
}

// Through glass or back from it, as chance and Schlick's approximation have it.
__device__ __forceinline__ float3
refracted(float3 direction, float3 normal, float index, unsigned& state)
{
    const float cosine = dot(direction, normal);
    const bool leaving = cosine > 0.0f;
    const float ratio = leaving ? index : 1.0f / index;
    const float steep = fabsf(cosine);
    const float bent = 1.0f - ratio * ratio * (1.0f - steep * steep);
    const float face = (1.0f - index) / (1.0f + index);
    const float flat = 1.0f - steep;
    const float share = face * face + (1.0f - face * face) * flat * flat * flat * flat * flat;
    if (bent <= 0.0f || uniform(state) < share) return direction - 2.0f * cosine * normal;
    const float3 inwards = leaving ? normal : -1.0f * normal;
    return ratio * (direction - steep * inwards) + sqrtf(bent) * inwards;
}

// The path of that number at the eye; `samples` paths for each pixel, one after another.
__device__ __forceinline__ Path
begin(int number, int width, int height, int samples, unsigned seed)
{
    const int task = task_of(number);
    unsigned state = hash(task ^ seed);
    const int pixel = task / samples;
    const float x = (pixel % width + uniform(state)) / width;
    const float y = (pixel / width + uniform(state)) / height;
    const float3 eye = make_float3(13.0f, 2.0f, 3.0f);
    const float3 direction = view(2.0f * x - 1.0f, 1.0f - 2.0f * y);
    return {eye, direction, make_float3(1.0f, 1.0f, 1.0f), state, number, 0};
}

// Send a path on from what it hit; whether it goes on at all.
__device__ __forceinline__ bool scatter(Path& path, const Scene& scene, Hit hit)
{
    if (hit.sphere < 0) {
        const float sky = 0.5f * path.direction.y + 0.5f;
        path.colour = path.colour * make_float3(1.0f - 0.5f * sky, 1.0f - 0.3f * sky, 1.0f);
        return false;
    }
    const float4 sphere = scene.spheres[hit.sphere];
    const float4 paint = scene.paints[hit.sphere];
    path.origin = path.origin + hit.distance * path.direction;
    const float3 normal = 1.0f / sphere.w * (path.origin - xyz(sphere));
    bool alive = true;
    #pragma ccc switch
    switch (scene.materials[hit.sphere]) {
    case GLASS:
        path.direction = refracted(path.direction, normal, paint.w, path.state);
        break;
    case METAL:
        path.direction = path.direction - 2.0f * dot(path.direction, normal) * normal;
        path.direction = path.direction + paint.w * any_direction(path.state);
        alive = dot(path.direction, normal) > 0.0f;
        break;
    default:
        path.direction = normal + 0.999f * any_direction(path.state);
        break;
    }
    path.direction = unit(path.direction);
    path.colour = path.colour * xyz(paint);
    ++path.bounces;
    alive = alive && path.bounces < MOST_BOUNCES;
    if (!alive) path.colour = make_float3(0.0f, 0.0f, 0.0f);
    return alive;
}

// Follow a path to the next sphere or to the sky; whether it goes on from there.
__device__ __forceinline__ bool bounce(Path& path, const Scene& scene)
{
    return scatter(path, scene, nearest(path.origin, path.direction, scene.spheres, scene.count));
}

// light[3 * i]: red, green and blue of path i.
__device__ __forceinline__ void finish(const Path& path, float* light)
{
    light[3 * path.number] = path.colour.x;
    light[3 * path.number + 1] = path.colour.y;
    light[3 * path.number + 2] = path.colour.z;
}

// The mean light of each pixel, its paths added in their order.
extern "C" __global__ void __launch_bounds__(128)
average(int pixels, int samples, const float* __restrict__ light, float* image)
{
    const int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 3 * pixels; i += stride) {
        const int first = i / 3 * samples;
        float sum = 0.0f;
        for (int path = first; path < first + samples; ++path) sum += light[3 * path + i % 3];
        image[i] = sum / samples;
    }
}
