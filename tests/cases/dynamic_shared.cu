// run: grid=2 block=64 shared=256 args=s32:800 u32[800]~0:1000 u32[800]=0
// options: dynamic_shared=256 strategy=queue
// Dynamic shared memory beside the stack.
extern __shared__ unsigned scratch[];
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    scratch[threadIdx.x] = threadIdx.x * 5;
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] % 4 == 0) y[i] = scratch[x[i] % 64] + x[i];
    }
    __syncthreads();
    scratch[threadIdx.x] = 1;
}
