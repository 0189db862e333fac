// run: grid=1 block=32 args=s32[192]~0:9 f32[192]~0:1 f32[16]=0 s32[16]=0 s32[1]=0 s32:192
// Who waits for a lock also looks whether all has been called off, and that first.
extern "C" __global__ void __launch_bounds__(128)
k(const int *__restrict__ key, const float *__restrict__ x, float *part, int *lock,
  const volatile int *off, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int k = key[i];
        while (!*off && atomicCAS(&lock[k], 0, 1) != 0);
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
