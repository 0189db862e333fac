// A branch of a dozen instructions in a loop of a dozen, which a few iterations in 1,000 take.
//
// A warp of 32 lanes nearly always skips a branch that one in 1,000 takes, and takes one that 31 in
// 1,000 take six times in ten. Results with no bit of `mask` set are folded into a digest, few
// enough to cost nothing; exclusive or does not depend on their order. With a `shift` of 5 all lanes
// of a warp take the branch, or none.

const unsigned SLOTS = 4096;

extern "C" __global__ void __launch_bounds__(256)
rare_branch(int count, int shift, unsigned seed, unsigned limit, unsigned mask, unsigned* digest)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        unsigned x = (i >> shift) * 2654435769u + seed;
        x = (x ^ x >> 16) * 2246822519u;
        x ^= x >> 13;
        #pragma ccc if
        if (x < limit) {
            x = (x ^ i) * 3266489917u;
            x = (x ^ x >> 16) * 668265263u;
            x = (x ^ x >> 15) * 374761393u;
            x ^= x >> 16;
            if (!(x & mask)) atomicXor(&digest[i % SLOTS], x);
        }
    }
}
