// run: grid=1 block=64 args=f32[500]~0:9 f32[500]=0 s32:500 s32:3
// All lanes that are still there take the branch together, in each copy, although some have left
// the loop between the copies, and parted before.
extern "C" __global__ void __launch_bounds__(64) k(const float *x, float *y, int n, int mode) {
#pragma unroll 2
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
        if (v > 3)
            for (int t = 0; t < v; ++t) v = v * 0.5f + t;
#pragma ccc if
        if (mode == 3)
            for (int t = 0; t < 9; ++t) v = v * 3 + t;
        y[i] = v;
    }
}
