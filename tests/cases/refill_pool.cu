// run: grid=1 block=50 args=u32[1501]=0 s32[1500]~-3:9 s32:105
// Lanes take iterations of others, which differ in more than where they begin.
extern "C" __global__ void k(unsigned *out, const int *count, int n) {
    __shared__ unsigned own[128];
    const unsigned lane = threadIdx.x, odd = lane * 7 + count[lane];
    const double bias = (lane & 3) * 0.25;
    const bool flip = count[lane] & 1;
    own[lane] = odd * 3;
    own[lane + 64] = odd * 5;
#pragma ccc for strategy(refill(3))
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned sum = odd + own[lane + 64 * (i & 1)];
        double b = bias;
        int c = count[i];
        if (i % 5 == 3) continue;
#pragma ccc while
        while (c-- > 0) {
            sum = sum * 5 + (flip ? i : c);
            b = b * 2 + i;
        }
        if (sum % 3 == 0) {
            out[i] = 7;
            continue;
        }
        out[i] = sum + lane + (unsigned)b;
    }
    own[lane] += odd + (int)(4 * bias) + flip;
    if (blockIdx.x == 0) atomicAdd(&out[1500], own[lane] & 15);
}
