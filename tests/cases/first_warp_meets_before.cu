// run: grid=2 block=64 args=u32[900]=0 u32[900]~0:100 u32[64]~0:9 s32:900
// The first warp adds something up before the loop, and meets on its own. Nobody who passes by comes
// to a barrier later, so that nobody waits for him.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *y, const unsigned *__restrict__ x, unsigned *c, int n) {
    if (threadIdx.x < 32 && blockIdx.x == 0) {
        unsigned v = c[threadIdx.x];
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
        __syncwarp();
        if (threadIdx.x == 0) c[33] = v;
    }
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += (int)(gridDim.x * blockDim.x)) {
#pragma ccc if
        if (x[i] % 3 == 0) y[i] = x[i] * x[i];
    }
}
// options: strategy=queue
