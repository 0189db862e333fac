// run: grid=2 block=64 args=s32:200 s32[200]~0:5 s32[200]=0
// Each call reads the array of the one before, so that they cannot all have the same.
#pragma ccc recursion
__device__ int smooth(const int *p, int left) {
    int next[8];
    if (left == 0) return p[3];
    for (int i = 0; i < 8; ++i) next[i] = p[(i + left) % 7] + p[i];
    return smooth(next, left - 1);
}
extern "C" __global__ void k(int n, const int *x, int *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = smooth(x + i % 50, x[i]);
}
