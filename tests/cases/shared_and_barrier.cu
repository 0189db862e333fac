// run: grid=2 block=96 args=s32:1200 u32[1200]~0:1000 u32[2]=0
// Static shared memory and barriers of the kernel's own, before and after the loop.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    __shared__ unsigned histogram[16];
    if (threadIdx.x < 16) histogram[threadIdx.x] = 0;
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] % 3 == 0) atomicAdd(&histogram[x[i] % 16], x[i]);
    }
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&y[blockIdx.x], histogram[threadIdx.x] * (threadIdx.x + 1));
}
// options: strategy=queue
