// run: grid=1 block=32 args=s32:96 u32[96]=0
// A path that goes on until a time that was set before it, and one that waits for the clock.
extern "C" __global__ void __launch_bounds__(32) k(int n, unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        long long end = clock64() + i % 7 * 20;
        unsigned turns = 0;
#pragma ccc while
        while (clock64() < end) ++turns;
        y[i] = 1 + (turns > 1000);
    }
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned value = y[i];
#pragma ccc if strategy(queue)
        if (i % 3 == 0) {
            unsigned begin = clock();
            while (clock() - begin < 20u) {}
            value += i;
        }
        y[i] = value;
    }
}
