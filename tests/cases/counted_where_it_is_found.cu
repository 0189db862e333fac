// run: grid=1 block=64 args=u32[400]~0:9 u32[128]=0 u32[64]=0 s32:399
// options: strategy=merge
// What the second loop adds up by an atomic operation's result is no fetch of the next iteration.
extern "C" __global__ void __launch_bounds__(64)
k(const unsigned *__restrict__ s, unsigned *__restrict__ table, unsigned *__restrict__ twice, int n) {
    unsigned d = 0;
#pragma ccc for reduction(+: d)
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned h = 1;
#pragma ccc while
        for (int k = 0; k < s[i]; ++k) h += k & 1 ? 8 : 10;
        h += s[i + 1];
        unsigned waits = h % 5;
#pragma ccc while
        while (true) {
            unsigned old = waits ? 0 : atomicCAS(&table[h], 0u, h);
            if (old == h) {
                ++d;
                break;
            }
            if (!waits) break;
            --waits;
        }
    }
    atomicAdd(twice, d);
}
