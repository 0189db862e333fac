// run: grid=3 block=64 args=s32:1500 u32[1500]~0:100 u32[10]=0 u64[1]=0
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned long long *total) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a % 3 == 0) {
            atomicMax(&y[a % 10], a * 1000 + 7);
            atomicAdd(total, (unsigned long long)a * i);
        }
    }
}
