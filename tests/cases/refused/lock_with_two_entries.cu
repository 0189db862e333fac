// run: grid=1 block=32 args=s32:64 s32[2048]~0:40 s32[8]=0 s32[8]=0
// A lock that backs off after its first try: nvcc makes a loop of two entries of it.
__device__ __noinline__ void take(int *lock) {
    for (bool contended = false;; contended = true) {
        if (contended) __nanosleep(50);
        if (atomicCAS(lock, 0, 1) == 0) return;
    }
}
extern "C" __global__ void k(int n, const int *__restrict__ x, int *__restrict__ sum, int *lock) {
    const int b = threadIdx.x & 7;
    take(&lock[b]);
#pragma ccc for
    for (int i = 0; i < n; i++) {
        int v = x[threadIdx.x * n + i];
#pragma ccc if
        if (v < 9) atomicAdd(&sum[b], v * v);
    }
    __threadfence();
    atomicExch(&lock[b], 0);
}
