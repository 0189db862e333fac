// run: grid=1 block=64 args=s32:60 u32[300]~0:1000 u32[300]~0:1000 u32[600]=0
// Loads and stores of both arms run as one, with chosen addresses; what one arm does alone only its
// lanes do. Nothing is promised of any loop.
extern "C" __global__ void k(int n, const unsigned* __restrict__ first, unsigned* second,
                             unsigned* out) {
    const int i = threadIdx.x;
    if (i >= n) return;
    const unsigned seen = first[i];
    unsigned sum = 0;
    #pragma ccc if strategy(meld)
    if (seen & 1) {
        sum = seen + second[i];
        second[i] = sum * 3;
        sum ^= second[i + 160];
        out[i + 100] = sum + 7;
        atomicAdd(&out[i], sum);
    } else {
        sum = second[i + 64] + seen;
        second[i + 64] = sum * 5;
        sum ^= second[i + 230];
        out[i + 300] = sum + 9;
        out[i + 400] = seen / (sum | 1);
        atomicAdd(&out[i + 1], sum);
    }
    out[i + 500] = sum;
}
