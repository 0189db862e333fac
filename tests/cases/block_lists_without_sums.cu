// run: grid=2 block=(10,10) args=s32:500 u32[500]~0:60 u32[4096]=0 u64[8]=0
// nvcc: -arch=sm_75
// The last warp of a block has four lanes. What comes before uses the same shared memory.
extern "C" __global__ void __launch_bounds__(100)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned long long *__restrict__ w) {
    const int thread = threadIdx.x + threadIdx.y * 10 + blockIdx.x * 100;
#pragma ccc for
    for (int i = thread; i < n; i += 200) {
#pragma ccc if strategy(queue)
        if (x[i] % 3 == 0) {
            unsigned value = x[i];
            for (unsigned k = 0; k < x[i] % 7; ++k) value = value * 5 + (value >> 3);
            atomicAdd(&w[value % 8], value);
        }
    }
#pragma ccc for
    for (int i = thread; i < n; i += 200) {
        const unsigned begin = i * 8, end = begin + (i % 5 ? x[i] % 9 : 0);
#pragma ccc for variable strategy(engage_block)
        for (unsigned j = begin; j < end; ++j) {
            unsigned value = j;
            if (j % 3) value = value * 7 + x[i];
            y[j] = value;
        }
    }
}
