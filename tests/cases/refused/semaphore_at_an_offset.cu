// run: grid=1 block=32 args=s64[192]=4 f32[192]~0:1 f32[1]=0 s32[4]=0 s32:192
// A place is tried again as an iteration; a number of bytes may be a pointer for all that is seen.
extern "C" __global__ void __launch_bounds__(128)
k(const long long *__restrict__ at, const float *__restrict__ x, float *sum, char *used, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n;) {
        int *mine = (int *)(used + at[i]);
        if (atomicAdd(mine, 1) >= 2) {
            atomicSub(mine, 1);
            continue;
        }
#pragma ccc if
        if (x[i] > 0.7f) {
            float t = x[i];
            for (int s = 0; s < 20; ++s) t -= 0.01f * sqrtf(t + 1);
            atomicAdd(sum, t);
        }
        __threadfence();
        atomicSub(mine, 1);
        i += blockDim.x;
    }
}
