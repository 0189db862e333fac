// run: grid=1 block=64 args=s32:420 u32[420]~0:100000 u32[420]=0
// The stacks of three loops are needed at the same time, for blocks of up to 1,024 threads: batches
// in one of them would leave no room for the others.
extern "C" __global__ void k(int n, const unsigned *__restrict__ x, unsigned *y) {
    if (threadIdx.x % 4 == 0) {
#pragma ccc for
        for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
            if (x[i] % 3 == 0) atomicAdd(&y[i], i * 77 ^ i >> 3);
        }
    } else if (threadIdx.x % 4 == 1) {
#pragma ccc for
        for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
            if (x[i] % 3 == 1) atomicAdd(&y[i], i * 55 ^ i >> 5);
        }
    } else {
#pragma ccc for
        for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
            if (x[i] % 3 == 2) atomicAdd(&y[i], i * 99 ^ i >> 4);
        }
    }
    __syncthreads();
}
