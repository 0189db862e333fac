// run: grid=1 block=64 args=s32[64]=0 f32[900]~0:9 s32:900
// Flags by "||" and "&&", of which nvcc keeps a byte; and one that any number may set.
extern "C" __global__ void __launch_bounds__(64) k(int *y, const float *x, int n) {
    bool found = false, all = true, any = false;
#pragma ccc for reduction(|: found, any) reduction(&: all)
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
#pragma ccc if
        if (v > 3) {
            for (int t = 0; t < 9; ++t) v = rintf(v * 0.75f + t);
            found = found || v > 33;
            all = all && v < 33.5f;
            any |= int(v) & 256;
        }
    }
    y[threadIdx.x] = found + 2 * all + 4 * any;
}
