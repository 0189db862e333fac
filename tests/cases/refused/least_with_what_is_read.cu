// run: grid=2 block=64 args=s32:900 f32[900]~0:9 u32[900]~0:100 u32[128]=0
// What goes with the least is read from memory where that is set, wherever the source reads it.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const float *x, const unsigned *z, unsigned *y) {
    float best = 99;
    unsigned with = 0;
#pragma ccc for reduction(min: best)
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] > 2) {
            float v = x[i];
            for (int k = 0; k < 5; ++k) v = sqrtf(v * v + k);
            if (v < best) { best = v; with = z[i]; }
        }
    }
    y[threadIdx.x + blockIdx.x * blockDim.x] = with;
}
