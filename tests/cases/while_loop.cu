// run: grid=2 block=64 args=s32:900 u32[900]~0:100 u32[900]=0 u32[2]=0
// A loop with two ways out, each with its own value afterwards.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int step = blockDim.x * gridDim.x, seen = 0;
#pragma ccc for
    while (true) {
        if (i >= n) break;
        if (x[i] == 42) { seen = i + 1; break; }
#pragma ccc if
        if (x[i] < 30) y[i] = x[i] * 3 + 2;
        i += step;
    }
    if (seen) atomicAdd(&z[0], seen); else atomicAdd(&z[1], 1);
}
// options: strategy=queue
