// run: grid=1 block=32 shared=256 args=s32[256]~0:40 s32[256]=0 s32:256
// Two declarations of dynamic shared memory are one memory: what is taken by one is given by the other.
__device__ __forceinline__ void take(int b) {
    extern __shared__ int locks[];
    while (atomicCAS(&locks[b], 0, 1) != 0) continue;
}
__device__ __forceinline__ void give(int b) {
    extern __shared__ unsigned words[];
    __threadfence();
    atomicExch(&words[b], 0u);
}
extern "C" __global__ void k(const int *__restrict__ x, int *__restrict__ y, int n) {
    extern __shared__ int states[];
    states[threadIdx.x] = 0;
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        int v = x[i];
        take(v & 3);
#pragma ccc if
        if (v & 8) y[v & 3] += v * v;
        give(v & 3);
    }
}
