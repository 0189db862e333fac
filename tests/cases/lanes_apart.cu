// run: grid=2 block=64 args=s32:40 u32[500]~0:100 u32[500]=0
// Lanes skip the annotated loop in some rounds of the outer loop and meet the others in it later.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int t = threadIdx.x;
    for (int round = 0; round < 6; ++round) {
        if (x[t + round] < 50 && (round & 1 || x[t] & 1)) {
            if (x[t + 2 * round] > 90 && round != 3) break;
            if (x[t + 3 * round] > 20) goto inner;
        }
        if (round == 4) continue;
inner:
#pragma ccc for
        for (int i = t; i < n; i += 7) {
#pragma ccc if
            if (x[i] < 40) atomicAdd(&y[i], round);
        }
    }
}
