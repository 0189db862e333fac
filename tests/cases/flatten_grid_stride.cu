// run: grid=7 block=128 args=s32:850 u32[850]~1:100 u32[850]=0
// options: registers=255
// The loop around is the one over blocks.
#pragma ccc grid_stride
extern "C" __global__ void __launch_bounds__(128) k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    unsigned a = x[i], steps = 0;
    if (a % 8 == 5) return;
#pragma ccc while strategy(flatten)
    while (a > 1 && steps < 12) {
        a = a & 1 ? 3 * a + 1 : a / 2;
        ++steps;
    }
    y[i] = steps * 1000 + a;
}
