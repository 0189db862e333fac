// run: grid=8 block=1024 args=s32:8000 u32[8192]~0:100 u32[8192]=0
// Lanes read what others wrote to shared memory, up to the end: the next block must not begin yet.
#pragma ccc grid_stride schedule(static)
extern "C" __global__ void __launch_bounds__(1024) k(int n, const unsigned *x, unsigned *y) {
    __shared__ unsigned row[1024];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    row[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) y[i] = row[1023 - threadIdx.x] + row[threadIdx.x ^ 1];
}
