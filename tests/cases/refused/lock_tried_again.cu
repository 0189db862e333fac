// run: grid=1 block=32 args=s32[128]~0:5 s32[128]=0 s32[1]=0 s32:128
// A turn gives the lock back, and takes it again by one try, for the next turn.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int left = turns[i], made = 0;
        bool holds = false;
#pragma ccc while strategy(merge)
        while (left > 0) {
            if (!holds)
                while (atomicCAS(lock, 0, 1) != 0);
            for (int k = 0; k < 30; ++k) made = made * 3 + turns[k];
            atomicExch(lock, 0);
            holds = atomicCAS(lock, 0, 1) == 0;
            if (--left == 0 && holds) atomicExch(lock, 0);
        }
        seen[i] = made;
    }
}
