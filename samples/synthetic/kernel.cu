// A loop with one branch that `lanes` of the 32 lanes of a warp take, others in each turn: how much
// of a warp idles is chosen. `synthetic_N` is the kernel whose branch is N multiply-additions long.
//
// A task iterates the quadratic map x -> x * x - 1.9, which is chaotic: its end says whether all of
// it was computed. Of the ends those with no bit of `mask` set are folded into a digest, few enough
// to cost nothing; exclusive or does not depend on their order.

const unsigned SLOTS = 4096;

template <int LENGTH>
__device__ __forceinline__ void
iterate(unsigned count, unsigned seed, unsigned lanes, unsigned mask, unsigned* digest)
{
    const unsigned stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        #pragma ccc if
        if ((5 * i + (i >> 5)) % 32 < lanes) {
            float x = __uint_as_float(0x3f800000u | (i * 2654435769u + seed) >> 10);  // 1 to 1.5
            #pragma unroll
            for (int step = 0; step < LENGTH; ++step) x = fmaf(x, x, -1.9f);
            const unsigned end = __float_as_uint(x);
            if (!(end & mask)) atomicXor(&digest[i % SLOTS], end ^ i);
        }
    }
}

#define KERNEL(LENGTH)                                                                            \
    extern "C" __global__ void __launch_bounds__(256) synthetic_##LENGTH(                         \
        unsigned count, unsigned seed, unsigned lanes, unsigned mask, unsigned* digest)           \
    {                                                                                             \
        iterate<LENGTH>(count, seed, lanes, mask, digest);                                        \
    }

KERNEL(1)
KERNEL(2)
KERNEL(4)
KERNEL(8)
KERNEL(16)
KERNEL(20)
KERNEL(32)
KERNEL(64)
KERNEL(128)
KERNEL(256)
KERNEL(512)
