// run: grid=1 block=64 args=f32[400]=0 f32[2000]~0:1 s32[400]~0:12 s32:400
// The sum of the turns lives in the task of their loop, which goes along to the branch that adds to it.
extern "C" __global__ void __launch_bounds__(128) k(float *out, const float *x, const int *nuclides, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float total = 0;
        int left = nuclides[i];
#pragma ccc while
        while (left > 0) {
            float v = x[(left * 7 + i) % 2000];
#pragma ccc if
            if (v > 0.6f) { for (int k = 0; k < 6; k++) v = v * v + 0.25f; total += rintf(v * 8) * 0.125f; }
            left--;
        }
        out[i] = total;
    }
}
