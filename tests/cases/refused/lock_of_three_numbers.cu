// run: grid=1 block=32 args=s32[128]~0:9 s32[128]=0 s32[1]=0 s32:128
// A turn writes another number to a lock than it has exchanged, but not the one that is free.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int left = turns[i], value = i;
        bool holds = false;
#pragma ccc while strategy(merge)
        while (left > 0) {
            if (!holds) while (atomicExch(lock, 1) != 0);
            holds = true;
            *(volatile int *)lock = 2;
            value = value * 3 + left;
            if (--left % 3 == 0) {
                atomicExch(lock, 0);
                holds = false;
            }
        }
        seen[i] = value;
    }
}
