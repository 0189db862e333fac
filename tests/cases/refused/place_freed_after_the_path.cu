// run: grid=1 block=64 args=s32[4]=0 s32[4]=0 s32:96
// Who looks for a free place, of which there are few, waits for those who free theirs.
extern "C" __global__ void k(int *__restrict__ taken, int *__restrict__ sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int place = i & 3;
        while (atomicCAS(&taken[place], 0, 7) != 0) place = place + 1 & 3;
#pragma ccc if
        if (i % 3 == 0) {
            int x = i;
            for (int turn = 0; turn < 9; turn++) x = x * x + turn;
            atomicAdd(&sum[x & 3], x);
        }
        atomicExch(&taken[place], 0);
    }
}
// options: strategy=queue
