// run: grid=1 block=64 args=s32:400 u32[400]~0:1000 u32[400]=0
// What the path makes decides where the next iteration begins: no head can come before it.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x;
#pragma ccc for
    while (i < n) {
        unsigned r = x[i], step = 1;
#pragma ccc if
        if (r % 3 == 0) {
            for (unsigned turn = 0; turn < r % 5; ++turn) step = step * 3 + turn;
            step = step % 2 + 1;
        }
        y[i] = step;
        i += 64 * step;
    }
}
// options: strategy=tile(3)
