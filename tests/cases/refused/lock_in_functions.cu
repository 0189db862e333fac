// run: grid=1 block=32 args=s32[128]~0:5 s32[128]=0 s32[1]=0 s32:128
// Functions take a lock and give it back, in turns of their own.
__device__ __noinline__ bool take(int *lock) { return atomicCAS(lock, 0, 1) == 0; }
__device__ __noinline__ void give(int *lock) { atomicExch(lock, 0); }

extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int left = turns[i], made = 0;
        bool holds = false;
#pragma ccc while strategy(merge)
        while (left > 0) {
            if (!holds) {
                holds = take(lock);
            } else {
                for (int k = 0; k < 30; ++k) made = made * 3 + turns[k];
                if (--left == 0) give(lock);
            }
        }
        seen[i] = made;
    }
}
