// run: grid=1 block=64 args=s32:300 f32[300]~0:1 u32[300]=0
// Arms with loops and branches of their own, which stay as they were for the lanes of their arm.
extern "C" __global__ void k(int n, const float* __restrict__ in, float* out) {
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float x = in[i];
        float y = __expf(x) + __cosf(x * 3);
        #pragma ccc if strategy(meld)
        if (x < 0.4f) {
            y = __expf(y) * __cosf(x + y) / (1.0f + y * y) + sqrtf(y);
            if (y > 1.0f) y = __expf(y * x);
            y = __sinf(y) * __cosf(x);
        } else {
            y = __expf(y - x) * __cosf(y * 0.5f) / (2.0f + y * x) + sqrtf(x);
            #pragma unroll 1
            for (int turn = 0; turn < (int)(x * 8.0f); ++turn) y = y * 0.5f + x;
            y = __sinf(x) * __cosf(y);
        }
        out[i] = y;
    }
}
