// run: grid=1 block=64 args=f32[256]~0:1 f32[256]=0
// Of a loop that its user has unrolled nothing is left that could be collected.
extern "C" __global__ void __launch_bounds__(64) k(const float *__restrict__ x, float *__restrict__ y) {
    int i = threadIdx.x;
#pragma ccc for
#pragma unroll
    for (int k = 0; k < 4; ++k) {
#pragma ccc if
        if (x[4 * i + k] > 0.5f) {
            float v = x[4 * i + k];
            for (int t = 0; t < 40; ++t) v = v * 0.5f + sqrtf(v);
            y[4 * i + k] = v;
        }
    }
}
