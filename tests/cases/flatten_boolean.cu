// run: grid=2 block=70 args=u32[140]~1:4000000000 u32[140]=0 s32:140 u32:178956970 s32:36
// Whether a walk goes on is a bool of two conditions, which nvcc has in a register of 16 bits.
struct Place {
    int x, y, z;
};

__device__ bool step(Place &at, unsigned &random, unsigned absorbed, int far) {
    random = random * 1664525 + 1013904223;
    const int way = random >> 31 ? 1 : -1;
    const unsigned axis = random >> 10 & 3;
    at.x += axis == 0 ? way : 0;
    at.y += axis == 1 ? way : 0;
    at.z += axis == 2 ? way : 0;
    return random >= absorbed && at.x * at.x + at.y * at.y + at.z * at.z < far;
}

extern "C" __global__ void k(const unsigned *seeds, unsigned *reach, int n, unsigned absorbed,
                             int far) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned random = seeds[i], sum = 0;
    for (int walk = 0; walk < 4; ++walk) {
        Place at = {0, 0, 0};
        bool alive = true;
#pragma ccc while strategy(flatten)
        while (alive) alive = step(at, random, absorbed, far);
        sum += at.x * at.x + at.y * at.y + at.z * at.z;
    }
    reach[i] = sum;
}
