// run: grid=1 block=64 args=f32[1500]=0 f32[1500]~-2:2 f32[1500]~-1.5:1.5 s32:187
// In an annotated loop, in which a path is collected no more; in the next one, one is.
extern "C" __global__ void __launch_bounds__(64)
k(float *out, const float *px, const float *py, int n) {
    const int stride = gridDim.x * blockDim.x;
#pragma ccc for strategy(refill(8))
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        float x = 0, y = 0;
        int steps = 0;
#pragma ccc while
        while (steps < 40 && x * x + y * y < 4) {
            float next = x * x - y * y + px[i];
            y = 2 * x * y + py[i];
            x = next;
            ++steps;
        }
        out[i] = steps;
    }
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
#pragma ccc if
        if (out[i] == 40) out[i] = 40 + px[i] / (1 + py[i] * py[i]);
    }
}
