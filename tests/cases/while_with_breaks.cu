// run: grid=2 block=96 args=s32:250 u32[250]~0:1000 u32[250]=0 u32[250]=0
// A loop with several ways out, and stores of its own.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
    if (threadIdx.x % 7 == 3) return;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i], steps = 0;
#pragma ccc while
        for (;;) {
            a = a * 1664525u + 1013904223u;
            if (a >> 28 == 3) { z[i] = a; break; }
            if (++steps > 40) break;
            if (a & 64) continue;
            if (a >> 29 == 6) { steps += 100; break; }
        }
        y[i] = steps * 2 + 1;
    }
}
