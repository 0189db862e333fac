// run: grid=1 block=32 args=s32[1]=0 s32[1]=0 s32:64
// A critical section (order-free) with an annotated branch in it: the task, and the release that
// goes with it, wait while other lanes spin for the lock.
extern "C" __global__ void k(volatile int *sum, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        bool have = false;
        while (!have) have = atomicCAS(lock, 0, 1) == 0;
        __threadfence();
        int v = *sum;
#pragma ccc if
        if (i % 3 == 0) v += i;
        *sum = v + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
