// run: grid=1 block=32 args=s32[64]~0:40 s32[1]=0 s32[64]=0 s32:64
// A function that calls itself until it has the lock waits as a loop does.
__device__ __noinline__ void take(int *lock, int deep, int z) {
    if (atomicCAS(lock, 0, 1) == 0) return;
    for (int k = 0; k < 300; k++) z = z * 7 % 1001 + k;
    take(lock, deep + 1, z);
    if (z == -5) *lock = deep;
}
extern "C" __global__ void __launch_bounds__(32) k(const int *x, int *lock, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        take(lock, 0, i);
        int v = x[i];
#pragma ccc if
        if (v & 1) {
            for (int k = 0; k < 5; k++) v = v * 7 % 33 + k;
            y[i] = v + 5;
        }
        __threadfence();
        atomicExch(lock, 0);
    }
}
