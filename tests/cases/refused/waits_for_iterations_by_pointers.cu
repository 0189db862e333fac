// run: grid=1 block=32 args=s32[192]~0:192 f32[192]~0:1 f32[192]=0 s32[192]=0 s32:192
// An iteration is tried again until that of 32 before has been; where both have left what they did
// is told by pointers that lay in memory.
extern "C" __global__ void __launch_bounds__(128)
k(const int *__restrict__ key, const float *__restrict__ x, float *y, int *done, int n) {
    __shared__ int *table[192];
    for (int i = threadIdx.x; i < n; i += blockDim.x) table[i] = done + i;
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x; i < n;) {
        if (i >= 32 && *table[i - 32] == 0) {
            __threadfence();
            continue;
        }
#pragma ccc if
        if (x[i] > 0.7f) {
            float t = x[i];
            for (int s = 0; s < 20; ++s) t -= 0.01f * sqrtf(t + 1);
            y[i] = t;
        }
        __threadfence();
        *(volatile int *)table[i] = 1;
        i += blockDim.x;
    }
}
