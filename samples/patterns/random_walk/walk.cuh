// A step of a walk.

#pragma once

struct Place {
    int x, y, z;
};

__device__ __forceinline__ int square(const Place& at)
{
    return at.x * at.x + at.y * at.y + at.z * at.z;
}

// To a neighbour, or none where three bits say so; whether the walk goes on.
__device__ __forceinline__ bool step(Place& at, unsigned& random, unsigned absorbed, int radius)
{
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    const int way = random & 1 ? 1 : -1;
    const unsigned axis = random >> 1 & 3;
    at.x += axis == 0 ? way : 0;
    at.y += axis == 1 ? way : 0;
    at.z += axis == 2 ? way : 0;
    return random >= absorbed && square(at) < radius * radius;
}
