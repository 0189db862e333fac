// run: grid=4 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
__device__ __noinline__ unsigned check(unsigned a) {
    if (a > 90) asm volatile("exit;");
    return a + 1;
}
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    y[i] = check(x[i]);
}
