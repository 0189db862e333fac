// run: grid=(2,2) block=(5,4,3) args=s32:700 u32[700]~0:100 u32[700]=0
// Warps are cut from the linear thread index.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int size = blockDim.x * blockDim.y * blockDim.z;
    int b = blockIdx.x + gridDim.x * blockIdx.y;
#pragma ccc for
    for (int i = t + size * b; i < n; i += size * gridDim.x * gridDim.y) {
#pragma ccc if
        if (x[i] < 40) y[i] = x[i] * 3 + threadIdx.z;
    }
}
// options: strategy=queue
