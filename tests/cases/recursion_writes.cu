// run: grid=2 block=64 args=s32:200 u32[200]~0:12 u32[2400]=0
// nvcc: -Ofc=max
// A function without a result that writes memory through a pointer argument.
#pragma ccc recursion
__device__ void spread(unsigned *to, unsigned left, unsigned value) {
    if (left == 0) return;
    *to = value;
    spread(to + 1, left - 1, value * 3 + left);
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        spread(y + 12 * i, x[i], i);
}
