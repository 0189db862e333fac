// run: grid=2 block=64 args=s32:1280 u32[1280]~0:9 u32[1280]=0
__device__ __noinline__ unsigned first_of_all(unsigned x) { return __shfl_sync(0xffffffff, x, 0); }

extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    for (int first = blockIdx.x * 64; first < n; first += gridDim.x * 64) {
        unsigned turns = x[first + threadIdx.x], sum = threadIdx.x;
#pragma ccc while strategy(refill(2))
        while (turns-- > 0) sum = sum * 5 + 1;
        y[first + threadIdx.x] = sum + first_of_all(sum);
    }
}
