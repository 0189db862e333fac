// run: grid=(3,2,4) block=(8,4,4) args=u32[3072]~0:100 u32[3072]=0
// options: registers=255
// Only y and z are read in the path, x outside of it.
#pragma ccc grid_stride
extern "C" __global__ void __launch_bounds__(128) k(const unsigned *x, unsigned *y) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int i = block * 128 + thread;
    unsigned a = x[i];
#pragma ccc if
    if (a % 4 == 0) y[i] = a * blockIdx.z + blockIdx.y + threadIdx.y * 7;
}
