// run: grid=1 block=64 args=s32[64]=0 s32[4]=0 s32:96
// Who looks for a free place in a table waits for nobody, since none is ever freed.
extern "C" __global__ void k(int *__restrict__ taken, int *__restrict__ sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        const int first = i * 5 & 15;
        int place = first;
        do {
            if (atomicCAS(&taken[place], 0, 7) == 0) break;
            place = place + 1 & 63;
        } while (place != first);
#pragma ccc if
        if (i % 3 == 0) {
            int x = i;
            for (int turn = 0; turn < 9; turn++) x = x * x + turn;
            atomicAdd(&sum[x & 3], x);
        }
    }
}
// options: strategy=queue
