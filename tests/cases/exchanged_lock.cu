// run: grid=2 block=64 args=s32[300]~0:9 s32[300]=0 s32[1]=0 s32[1]=0 s32:300
// Each turn takes a lock by an exchange, and gives it back.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < n; i += 128) {
        int value = i;
#pragma ccc while
        for (int turn = 0; turn < turns[i]; ++turn) {
            value = value * 3 + turn;
            bool done = false;
            while (!done) {
                if (atomicExch(lock, 1) == 0) {
                    *(volatile int *)sum += turn;
                    __threadfence();
                    atomicExch(lock, 0);
                    done = true;
                }
            }
        }
        seen[i] = value;
    }
}
