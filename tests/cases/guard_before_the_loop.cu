// run: grid=2 block=96 args=s32:150 u32[900]~0:100 u32[900]=0 u32[2]=0
// The branch at which members are counted leads straight to the loop. Lanes without any iteration
// pass by and wait at a barrier.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    __shared__ unsigned total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const int stride = blockDim.x * gridDim.x;
    int i = threadIdx.x + blockIdx.x * blockDim.x;
#pragma ccc for
    while (i < n) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 45) { y[i] = a + 9; atomicAdd(&total, a); }
        i += stride;
    }
    __syncthreads();
    if (threadIdx.x == 0) z[blockIdx.x] = total;
}
// options: strategy=queue
