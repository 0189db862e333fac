// run: grid=1 block=2 args=s32:1 u32[256]~0:100 u32[48]=7
// An inner loop without effects, in an arm: the task of the arm keeps what its context is made of.
extern "C" __global__ void __launch_bounds__(2) k(int n, const unsigned *a, unsigned *y) {
    const int g = threadIdx.x;
#pragma ccc for
    for (int i = g; i < n; i += 2) {
        unsigned v = a[(i * 3u) & 255];
#pragma ccc if
        if ((v * 2654435761u >> 29) < 1u) {
        } else if ((v * 2654435761u >> 29) < 7u) {
            unsigned j = v % 7;
#pragma ccc for variable
            do {
            } while (j-- > 0);
        } else {
            y[i * 3 + 2] = 0u;
        }
        y[i * 3 + 0] = 0u;
    }
}
