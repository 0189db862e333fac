// run: grid=2 block=64 args=s32[400]~0:9 s32[2]=0 s32[1]=0 s32:400
// Who has the lock must get on, though all others of the warp turn round and ask for it.
extern "C" __global__ void __launch_bounds__(64) k(const int *x, int *lock, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < n; i += 128) {
        int value = x[i];
        bool done = value == 3;
#pragma ccc while
        while (!done) {
#pragma ccc if
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                *(volatile int *)sum += value;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}
// options: strategy=merge
