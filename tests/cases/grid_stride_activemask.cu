// run: grid=9 block=128 args=s32:1150 u32[1150]~0:100 u32[9]=0
// options: registers=255
// Lanes that count whoever is with them must not find lanes that are a block ahead.
#pragma ccc grid_stride schedule(static)
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n || x[i] % 3 == 0) return;
    unsigned here = __activemask();
    if ((threadIdx.x & 31) == __ffs(here) - 1) atomicAdd(&y[blockIdx.x], __popc(here));
}
