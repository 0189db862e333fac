// run: grid=1 block=100 args=s32:300 u32[300]~0:1000 u32[300]=0
// A switch without a default: some lanes take no arm. The branches that choose one stay.
extern "C" __global__ void k(int n, const unsigned* __restrict__ in, unsigned* out) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const unsigned seen = in[i];
        unsigned sum = seen;
        #pragma ccc switch strategy(meld)
        switch (seen % 5) {
        case 0: sum = 99999 / ((seen + 5) % 13 + 1); break;
        case 1: sum = 88888 / ((seen + 9) % 11 + 2); break;
        case 3: sum = 77777 / ((seen ^ 5) % 29 + 3); break;
        }
        out[i] = sum;
    }
}
