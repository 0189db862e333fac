// run: grid=3 block=100 args=s32:700 u32[700]~0:100 u32[700]=0 u64[16]=0
// Few iterations a thread: the last tasks of all warps of a block are put together. Some threads
// have no iteration, some have returned, and the last warp has fewer lanes. Later warps begin later.
extern "C" __global__ void __launch_bounds__(128)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned long long *__restrict__ w) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    if (thread % 9 == 4) return;
    unsigned long long more = thread * 3ull;
    for (unsigned k = 0; k < threadIdx.x / 32 * 60; ++k) more = more * 5 + x[k];
#pragma ccc for
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if strategy(pool)
        if (x[i] % 3 == 0) {
            unsigned value = x[i];
            for (unsigned k = 0; k < x[i] % 7; ++k) value = value * 5 + (value >> 3);
            y[i] = value + threadIdx.x;
            atomicAdd(&w[value % 16], more);
        }
    }
}
