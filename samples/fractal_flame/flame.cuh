// The points of a fractal flame: how one is drawn, what bends it, and where it counts.
//
// A point is drawn from a hash of its number: a place in the square, STEPS turns of the chaos game
// with four affine maps, and a variation, of those in Draves and Reckase's paper. With
// -DSAME_VARIATION, for a bound, 32 points that follow one another have the same one.

#pragma once

const int STEPS = 5;
const unsigned VARIATIONS = 10;
const float REACH = 3.0f;  // the picture shows -REACH to REACH in both directions

struct Point {
    float x, y;
};

struct Drawn {
    Point point;
    unsigned variation;
};

// Chris Wellons' "lowbias32".
__device__ __forceinline__ unsigned hash(unsigned h)
{
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

// 16 bits of a hash as a number from -1 to 1.
__device__ __forceinline__ float signed_fraction(unsigned bits)
{
    return (bits & 0xffff) * (1.0f / 32768.0f) - 1.0f;
}

__device__ __forceinline__ Drawn draw(unsigned number, unsigned seed)
{
    const unsigned place = hash(number ^ seed);
    const unsigned choices = hash(place + 0x9e3779b9u);
    float x = signed_fraction(place);
    float y = signed_fraction(place >> 16);

    // Shrink and turn, towards one of four corners: two bits of `choices` a step.
    for (int step = 0; step < STEPS; ++step) {
        const unsigned corner = choices >> 2 * step;
        const float turned = 0.36f * x - 0.24f * y + (corner & 1 ? 0.85f : -0.35f);
        y = 0.24f * x + 0.36f * y + (corner & 2 ? 0.85f : -0.35f);
        x = turned;
    }
#ifdef SAME_VARIATION
    const unsigned chance = hash(number / 32 ^ seed);
#else
    const unsigned chance = hash(choices);
#endif
    return {{x, y}, __umulhi(chance, VARIATIONS)};
}

__device__ __forceinline__ Point sinusoidal(Point p)
{
    return {sinf(p.x), sinf(p.y)};
}

__device__ __forceinline__ Point spherical(Point p, float squared)
{
    return {p.x / squared, p.y / squared};
}

__device__ __forceinline__ Point swirl(Point p, float squared)
{
    const float sine = sinf(squared), cosine = cosf(squared);
    return {p.x * sine - p.y * cosine, p.x * cosine + p.y * sine};
}

__device__ __forceinline__ Point horseshoe(Point p, float radius)
{
    return {(p.x - p.y) * (p.x + p.y) / radius, 2.0f * p.x * p.y / radius};
}

__device__ __forceinline__ Point polar(Point p, float radius)
{
    return {atan2f(p.x, p.y) * 0.31830989f, radius - 1.0f};
}

__device__ __forceinline__ Point handkerchief(Point p, float radius)
{
    const float angle = atan2f(p.x, p.y);
    return {radius * sinf(angle + radius), radius * cosf(angle - radius)};
}

__device__ __forceinline__ Point heart(Point p, float radius)
{
    const float angle = atan2f(p.x, p.y) * radius;
    return {radius * sinf(angle), -radius * cosf(angle)};
}

__device__ __forceinline__ Point exponential(Point p)
{
    const float power = expf(p.x - 1.0f);
    return {power * cosf(3.14159265f * p.y), power * sinf(3.14159265f * p.y)};
}

__device__ __forceinline__ Point power(Point p, float radius)
{
    const float angle = atan2f(p.x, p.y), sine = sinf(angle);
    const float power = powf(radius, sine);
    return {power * cosf(angle), power * sine};
}

// One more at a point's place in the picture.
__device__ __forceinline__ void count(Point p, unsigned side, unsigned* histogram)
{
    const float scale = side / (2.0f * REACH);
    const unsigned column = (unsigned)(int)floorf((p.x + REACH) * scale);
    const unsigned row = (unsigned)(int)floorf((p.y + REACH) * scale);
    if (column < side && row < side) atomicAdd(&histogram[row * side + column], 1u);
}
