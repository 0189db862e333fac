// run: grid=1 block=64 args=s32[64]=0 s32[96]~0:99 s32:96
// Who looks for a free place waits for those who free one, as those may do who write to sums.
extern "C" __global__ void k(int *taken, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        const int first = sum[i] & 15;
        int place = first;
        do {
            if (atomicCAS(&taken[place], 0, 7) == 0) break;
            place = place + 1 & 63;
        } while (place != first);
#pragma ccc if
        if (i % 3 == 0) {
            int x = i;
            for (int turn = 0; turn < 9; turn++) x = x * x + turn;
            atomicExch(&sum[i], x);
        }
    }
}
// options: strategy=queue
