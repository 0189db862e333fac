// run: grid=1 block=32 args=s32[128]~0:9 s32[128]=0 s32[1]=0 s32[1]=0 s32:128
// One try takes the lock before the path; there, who has none waits for it.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ x, int *seen, int *lock, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        bool holds = atomicCAS(lock, 0, 1) == 0;
        if (holds) *(volatile int *)sum += 1;
#pragma ccc if
        if (x[i] > 4) {
            int value = i;
            if (!holds) {
                while (atomicCAS(lock, 0, 1) != 0);
                __threadfence();
                *(volatile int *)sum += x[i];
            }
            __threadfence();
            atomicExch(lock, 0);
            for (int k = 0; k < 40; ++k) value = value * 3 + (value >> (k & 7));
            seen[i] = value;
            holds = false;
        }
        if (holds) atomicExch(lock, 0);
    }
}
// options: strategy=queue
