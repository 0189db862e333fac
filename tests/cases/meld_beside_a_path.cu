// run: grid=1 block=64 args=s32:300 u32[300]~0:1000 u32[300]=0
// One branch of the loop is melded, the other path is collected.
extern "C" __global__ void k(int n, const unsigned* __restrict__ in, unsigned* out) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const unsigned seen = in[i];
        unsigned sum = seen;
        #pragma ccc if strategy(meld)
        if (seen & 2) {
            sum = sum * 17 + seen;
            sum = (sum ^ seen) * sum;
            sum = sum % 1009 + seen;
        } else {
            sum = sum * 23 + seen;
            sum = (sum ^ seen) * sum;
            sum = seen + sum % 997;
        }
        #pragma ccc if
        if (seen % 7 == 0) {
            for (unsigned turn = 0; turn < seen % 11; ++turn) sum = sum * 3 + turn;
            out[i] = sum;
        } else {
            out[i] = seen;
        }
    }
}
