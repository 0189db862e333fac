// run: grid=1 block=32 args=s32[128]~0:9 s32[128]=0 s32[1]=1 s32:128
// A try takes the lock if it finds 1, which another way than that of 2 keeps for the next turn.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ turns, int *seen, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int left = turns[i], value = i;
        bool holds = false;
#pragma ccc while strategy(merge)
        while (left > 0) {
            if (!holds) while (atomicExch(lock, 0) != 1);
            value = value * 3 + left;
            atomicExch(lock, 1);
            int found = atomicExch(lock, 0);
            if (found == 2) {
                value += 1;
                atomicExch(lock, 1);
            }
            holds = found == 1;
            --left;
        }
        if (holds) atomicExch(lock, 1);
        seen[i] = value;
    }
}
