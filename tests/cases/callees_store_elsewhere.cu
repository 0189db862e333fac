// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[900]=0
// Functions store to a place of each iteration, and read a place of the thread's own.
__device__ __noinline__ void put(unsigned *place, unsigned v) { *place = v * 7; }
__device__ __noinline__ unsigned get(const unsigned *place, unsigned v) { return *place + v; }
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y,
                                                   unsigned *z) {
    __shared__ unsigned own[64];
    own[threadIdx.x] = threadIdx.x * 3;
    __syncwarp();
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        put(&z[i], get(&own[threadIdx.x], x[i]));
#pragma ccc if
        if (x[i] < 40) y[i] = own[threadIdx.x] * 5 + z[i];
    }
}
