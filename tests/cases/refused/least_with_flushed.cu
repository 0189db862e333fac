// run: grid=1 block=32 args=f32[600]=0.00000000000000000000000000000000000000000000001 s32[600]~-9:9 f32[64]=0 s32:600
// nvcc: -ftz=true
// With -ftz=true tiny numbers compare as zeros: which one is kept depends on the order.
extern "C" __global__ void __launch_bounds__(32) k(const float *x, const int *u, float *y, int n) {
    float most = 0, least = 1;
#pragma ccc for reduction(max: most) reduction(min: least)
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (u[i] > 2) {
            int j = i;
            for (int k = 0; k < u[i]; k++) j = (j * 5 + k) % 600;
            float h = x[j];
            if (h > most) most = h;
            least = fminf(least, h);
        }
    }
    y[threadIdx.x] = most;
    y[32 + threadIdx.x] = least;
}
