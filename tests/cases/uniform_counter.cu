// run: grid=2 block=64 args=s32:16 u32[128]~0:1000000 u32[2048]=0
// The counter is the same in every lane, but not in every iteration: it is context.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    unsigned t = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned h = x[t];
#pragma ccc for
    for (int step = 0; step < n; ++step) {
        unsigned g = (h ^ step) * 2654435761u;
#pragma ccc if
        if (g >> 30 == 0) y[step * 128 + t] = step * 1000 + g % 1000;
    }
}
// options: strategy=queue
