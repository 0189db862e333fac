// run: grid=1 block=32 args=s32:256 s32[256]~0:40 s32[256]=0 s32[4]=0 s32:0
// options: callee_shared=0
// Lanes try a lock by a function that a pointer leads to, and give it back behind the loop.
__device__ __noinline__ bool attempt(int *lock) { return atomicCAS(lock, 0, 1) == 0; }
__device__ __noinline__ bool never(int *lock) { return *lock == 7; }
__device__ bool (*const ways[])(int *) = {attempt, never};
extern "C" __global__ void k(int n, const int *__restrict__ x, int *__restrict__ y, int *lock, int way) {
    bool (*tries)(int *) = ways[way];
    while (!tries(lock)) continue;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (x[i] & 1) y[i] = x[i] * x[i];
    }
    __threadfence();
    atomicExch(lock, 0);
}
