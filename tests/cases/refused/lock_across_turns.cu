// run: grid=1 block=32 args=s32[128]~0:14 s32[128]=0 s32[1]=0 s32[1]=0 s32:128
// The first turn takes a lock, the last one gives it back, and a task may be set aside between.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int turn = 0;
#pragma ccc while strategy(merge)
        do {
            if (turn == 0) {
                while (atomicCAS(lock, 0, 1) != 0);
                __threadfence();
            }
            *sum += turn;
            if (++turn > turns[i]) {
                __threadfence();
                atomicExch(lock, 0);
            }
        } while (turn <= turns[i]);
        seen[i] = turn;
    }
}
