// run: grid=9 block=128 args=s32:1150 u32[1150]~0:100 u32[36]=0
// options: registers=255
// Warp-collectives that all lanes come to.
#pragma ccc grid_stride schedule(static)
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned a = i < n ? x[i] : 0;
    for (int s = 16; s; s >>= 1) a += __shfl_xor_sync(~0u, a, s);
    if (threadIdx.x % 32 == 0) y[i / 32] = a;
}
