// run: grid=2 block=64 args=s32[300]~0:16 s32[16]=0 s32[16]=0 s32:300
// The turns themselves wait, each with one try by an exchange, and give the lock back.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ which, int *__restrict__ lock, int *__restrict__ sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < n; i += 128) {
        int own = which[i];
        bool done = false;
#pragma ccc while
        while (!done) {
            if (atomicExch(&lock[own], 1) == 0) {
                *(volatile int *)&sum[own] += i;
                __threadfence();
                atomicExch(&lock[own], 0);
                done = true;
            }
        }
    }
}
