// run: grid=1 block=32 args=s32[128]~0:9 s32[128]=0 s32[1]=0 s32:128
// A turn gives the lock back, and takes it again by another atomic operation for the next turns.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int left = turns[i], value = i;
        bool holds = false;
#pragma ccc while strategy(merge)
        while (left > 0) {
            if (!holds) {
                while (atomicCAS(lock, 0, 1) != 0);
                value = value * 3 + left;
                atomicExch(lock, 0);
                holds = (atomicOr(lock, 1) & 1) == 0;
            }
            if (--left % 3 == 0 && holds) {
                atomicExch(lock, 0);
                holds = false;
            }
        }
        if (holds) atomicExch(lock, 0);
        seen[i] = value;
    }
}
