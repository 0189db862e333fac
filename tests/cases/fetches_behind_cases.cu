// run: grid=2 block=64 args=s32:100 u32[128]~0:100 u32[256]=0 u32[2]=0
// Only some lanes of a warp come to the first loop, and all fetch tasks behind it.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *next) {
    int first = threadIdx.x + blockIdx.x * blockDim.x;
    __syncthreads();
#pragma ccc for
    for (int i = first; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] % 5 < 2) for (unsigned j = 0; j < x[i]; j += 9) y[i] += j * x[j];
        else y[i] = x[x[i] / 7] / x[i];
    }
    for (int i = atomicAdd(next, 1); i < n; i = atomicAdd(next, 1)) y[128 + i] += x[i] + 1;
    __syncthreads();
}
// options: strategy=cases
