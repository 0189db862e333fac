// run: grid=2 block=96 args=s32:900 u32[900]~0:100 u32[900]=0 u32[2]=0
// Lanes that skip the loop wait at a barrier: the members are counted at the branches above.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    __shared__ unsigned total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    if (threadIdx.x % 5 != 2) {
#pragma ccc for
        for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
            if (x[i] < 45) { y[i] = x[i] + 9; atomicAdd(&total, x[i]); }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) z[blockIdx.x] = total;
}
// options: strategy=queue
