// run: grid=1 block=32 args=u32[256]=0 s32[32]=0 s32[1]=1 s32:256
// All but the first lane call a function that nobody knows, which may wait for the first.
typedef int (*wait)(volatile int *);
__device__ __noinline__ int once(volatile int *flag) {
    while (*flag == 0);
    return 1;
}
__device__ __noinline__ int twice(volatile int *flag) {
    while (*flag < 2);
    return 2;
}
__device__ wait waits[2] = {once, twice};
extern "C" __global__ void k(unsigned *out, int *c, volatile int *flag, int n) {
    int r = 0;
    if (threadIdx.x != 0) r = waits[n & 1](flag);
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (i % 3 == 0) out[i] = i;
    }
    if (threadIdx.x == 0) *flag = 2;
    c[threadIdx.x] = r;
}
