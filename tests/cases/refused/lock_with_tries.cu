// run: grid=1 block=32 args=f32[192]~0:1 s32[1]=0 s32[1]=0 s32[32]=0 s32:192
// Who does not get a lock in some tries gives up: more would, if who has it were set aside.
extern "C" __global__ void __launch_bounds__(64)
k(const float *__restrict__ x, int *lock, int *sum, int *failed, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int tries = 0;
        while (atomicCAS(lock, 0, 1) != 0 && tries < 2000) ++tries;
        if (tries == 2000) {
            failed[threadIdx.x]++;
            continue;
        }
        __threadfence();
#pragma ccc if
        if (x[i] > 0.7f) {
            float t = x[i];
            for (int s = 0; s < 20; ++s) t -= 0.01f * sqrtf(t + 1);
            *sum += t > 0;
        }
        __threadfence();
        atomicExch(lock, 0);
    }
}
