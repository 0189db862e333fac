// run: grid=1 block=64 args=s32:300 u32[300]~0:100 u32[64]=0
// A function that all iterations call stores to the same memory.
struct Result { unsigned most, count; };
__device__ __noinline__ void note(Result *r, unsigned v) { r->count += v & 1; r->most = v > r->most ? v : r->most; }
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    Result *mine = (Result *)y + (threadIdx.x & 31);
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] % 3 == 0) note(mine, x[i] / 7);
    }
}
