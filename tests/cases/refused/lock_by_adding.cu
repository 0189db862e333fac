// run: grid=1 block=32 args=s32[192]~0:9 f32[192]~0:1 f32[16]=0 s32[16]=0 s32:192
// Who adds to a lock and finds 0 has it; those that do not find 0 wait until it is given back.
extern "C" __global__ void __launch_bounds__(128)
k(const int *__restrict__ key, const float *__restrict__ x, float *part, int *lock, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int k = key[i];
        while (atomicAdd(&lock[k], 1) != 0);
        __threadfence();
#pragma ccc if
        if (x[i] > 0.9f) {
            float t = x[i];
            for (int s = 0; s < 20; ++s) t -= 0.01f * sqrtf(t + 1);
            part[k] += t;
        }
        __threadfence();
        atomicExch(&lock[k], 0);
    }
}
