// run: grid=1 block=64 args=u32[1000]=0 s32[1000]~-3:9 s32:40 s32:7
// Some lanes begin behind the bound, so that each keeps its own iterations.
extern "C" __global__ void k(unsigned *out, const int *count, int n, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma ccc for
    do {
        unsigned sum = i;
        int c = count[i];
#pragma ccc while strategy(refill(3))
        while (c-- > 0) sum = sum * 5 + c;
        atomicAdd(&out[i], sum);
        i += stride;
    } while (i < n);
}
