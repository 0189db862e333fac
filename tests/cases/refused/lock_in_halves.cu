// run: grid=1 block=32 args=s32[128]~0:9 s32[128]=0 u64[1]=0 s32:128
// A lock of a count and an owner, of which a turn clears the count alone.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, unsigned long long *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int left = turns[i], value = i;
        bool holds = false;
#pragma ccc while strategy(merge)
        while (left > 0) {
            if (!holds) {
                while (atomicCAS(lock, 0ull, (i + 1ull) << 32 | 1) != 0);
                holds = true;
            }
            *(volatile int *)lock = 0;
            value = value * 3 + left;
            if (--left % 3 == 0) {
                atomicExch(lock, 0ull);
                holds = false;
            }
        }
        seen[i] = value;
    }
}
