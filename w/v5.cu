__global__ void m3(const int *x, unsigned *y, int n) { 

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { unsigned v = x[i]; 

        while (0 && v % 3) { ++v; }
        y[i] = v; } }
