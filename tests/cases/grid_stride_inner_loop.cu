// run: grid=7 block=(32,4) args=s32:416 u32[896]~0:100 u32[896]=0 u32[7]=0
// options: registers=255 strategy=queue
// A loop inside the kernel keeps its own paths, and its block its barriers.
#pragma ccc grid_stride
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    __shared__ unsigned sum;
    int t = threadIdx.x + threadIdx.y * blockDim.x, i = t + blockIdx.x * 128;
    if (t == 0) sum = 0;
    __syncthreads();
#pragma ccc for
    for (int j = t; j < n; j += 128) {
        unsigned a = x[(i + j * 7) % 896];
#pragma ccc if
        if (a < 40) atomicAdd(&sum, a * j);
    }
    __syncthreads();
    y[i] = sum + x[i];
    if (t == 0) z[blockIdx.x] = sum;
}
