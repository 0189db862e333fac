// run: grid=1 block=32 args=s32[64]~0:9 s32[64]=0 f32[64]~0:1 s32:64
// The path waits for what the path of the iteration before does.
extern "C" __global__ void __launch_bounds__(32)
k(const int *__restrict__ x, volatile int *ready, float *v, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (x[i] > 3) {
            int before = i - 1;
            while (before >= 0 && x[before] <= 3) --before;
            if (before >= 0) while (!ready[before]);
            v[i] = before >= 0 ? v[before] * 0.5f + v[i] : v[i];
            __threadfence();
            ready[i] = 1;
        }
    }
}
