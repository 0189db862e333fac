// run: grid=1 block=32 args=s32[128]~2:14 s32[128]=0 s32[1]=0 s32[1]=0 s32[1]=0 s32:128
// A turn waits until its ticket is served, and the next one goes only two turns later.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *tickets, int *served, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int turn = 0;
#pragma ccc while strategy(merge)
        do {
            if (turn == 0) {
                int mine = atomicAdd(tickets, 1);
                while (*(volatile int *)served != mine);
                __threadfence();
            }
            *sum += turn;
            if (turn == 2) {
                __threadfence();
                atomicAdd(served, 1);
            }
        } while (++turn <= turns[i]);
        seen[i] = turn;
    }
}
