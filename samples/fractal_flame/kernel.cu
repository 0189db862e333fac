// Fractal flames: points of an iterated function system, bent by one of ten variations, counted in
// a histogram.
//
// A point is drawn from a hash of its number: a place in the square, STEPS turns of the chaos game
// with four affine maps, and a variation, of those in Draves and Reckase's paper.

const int STEPS = 5;
const unsigned VARIATIONS = 10;
const float REACH = 3.0f;  // the picture shows -REACH to REACH in both directions

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

extern "C" __global__ void __launch_bounds__(256)
flame(unsigned points, unsigned seed, unsigned side, unsigned* histogram)
{
    const unsigned stride = gridDim.x * blockDim.x;
    const float scale = side / (2.0f * REACH);

    #pragma ccc for
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += stride) {
        const unsigned place = hash(i ^ seed);
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

        const float squared = x * x + y * y + 1e-9f;
        const float radius = sqrtf(squared);
        const float u = x, v = y;
        #pragma ccc switch
        switch (__umulhi(hash(choices), VARIATIONS)) {
        case 0:  // linear
            break;
        case 1:  // sinusoidal
            x = __sinf(u);
            y = __sinf(v);
            break;
        case 2:  // spherical
            x = u / squared;
            y = v / squared;
            break;
        case 3: {  // swirl
            const float sine = __sinf(squared), cosine = __cosf(squared);
            x = u * sine - v * cosine;
            y = u * cosine + v * sine;
            break;
        }
        case 4:  // horseshoe
            x = (u - v) * (u + v) / radius;
            y = 2.0f * u * v / radius;
            break;
        case 5:  // polar
            x = atan2f(u, v) * 0.31830989f;
            y = radius - 1.0f;
            break;
        case 6: {  // handkerchief
            const float angle = atan2f(u, v);
            x = radius * __sinf(angle + radius);
            y = radius * __cosf(angle - radius);
            break;
        }
        case 7: {  // heart
            const float angle = atan2f(u, v) * radius;
            x = radius * __sinf(angle);
            y = -radius * __cosf(angle);
            break;
        }
        case 8: {  // exponential
            const float power = __expf(u - 1.0f);
            x = power * __cosf(3.14159265f * v);
            y = power * __sinf(3.14159265f * v);
            break;
        }
        default: {  // power
            const float power = __powf(radius, u / radius);
            x = power * v / radius;
            y = power * u / radius;
            break;
        }
        }

        const unsigned column = (unsigned)(int)floorf((x + REACH) * scale);
        const unsigned row = (unsigned)(int)floorf((y + REACH) * scale);
        if (column < side && row < side) atomicAdd(&histogram[row * side + column], 1u);
    }
}
