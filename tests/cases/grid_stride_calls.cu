// run: grid=9 block=128 args=s32:1100 u32[1100]~0:100 u32[1100]=0
// options: registers=255
// A function that is not inlined, and a scratch array of each thread's own.
__device__ __noinline__ unsigned mix(unsigned a, unsigned b) { return (a ^ b) * 31 + a; }

#pragma ccc grid_stride schedule(static)
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    unsigned scratch[8], a = x[i];
    for (int j = 0; j < 8; ++j) scratch[(a + j) % 8] = j * a;
    y[i] = mix(scratch[a % 5], i) + blockIdx.x;
}
