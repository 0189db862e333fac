// run: grid=1 block=32 args=f32[32]~0:1 s32[1]=0 f32[32]=0 s32:32
// What a lane waits for is looked at here, and a function is asked whether it is that.
__device__ __noinline__ bool same(int value, int wanted) { return value == wanted; }
extern "C" __global__ void __launch_bounds__(64) k(const float *x, volatile int *turn, float *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        while (!same(*turn, i));
        float v = x[i];
#pragma ccc if
        if (v > 0.5f) {
            for (int t = 0; t < 40; ++t) v = v * 0.5f + sqrtf(v);
            y[i] = v;
        }
        *turn = i + 1;
    }
}
