// run: grid=2 block=128 shared=200 args=u64[2000]~0:1000000 u64[2000]=0 s32:2000
// Blocks may have 1024 threads, and two tasks for each, of 28 bytes, are more than static memory.
extern "C" __global__ void k(const unsigned long long *x, unsigned long long *y, int n) {
    extern __shared__ unsigned char mine[];
    if (threadIdx.x < 100) mine[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 100) mine[threadIdx.x + 100] = 3 * threadIdx.x;
    __syncthreads();
    const int stride = gridDim.x * blockDim.x;
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        unsigned long long a = x[i], b = x[n - 1 - i], c = x[i / 2], d = x[i / 3];
        #pragma ccc if strategy(queue)
        if ((a ^ c ^ d) % 3 == 0) {
            for (int turn = 0; turn < 5; ++turn) a = (a + d) * b + c * mine[turn];
            y[i] = a;
        }
    }
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x < 200) y[threadIdx.x] += mine[threadIdx.x];
}
// options: shared_limit=232448 dynamic_shared=200
