// run: grid=1 block=32 args=s32[128]~0:9 s32[128]=0 s32[2]=0 s32:128
// A function waits for a lock and gives it back, in each turn: what it does is not looked into.
__device__ __noinline__ void add_locked(int *lock, int value) {
    while (atomicCAS(lock, 0, 1) != 0);
    __threadfence();
    *(volatile int *)(lock + 1) += value;
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float value = i;
#pragma ccc while strategy(merge)
        for (int left = turns[i]; left > 0; --left) {
            add_locked(lock, left);
            value = value * 1.5f - left;
        }
        seen[i] = (int)value;
    }
}
