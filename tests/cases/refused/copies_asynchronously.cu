// run: grid=1 block=64 args=f32[500]~0:1 f32[500]=0 s32:500
// No barrier is in the loop, and none that it could be marked between.
extern "C" __global__ void __launch_bounds__(64) k(const float *x, float *y, int n) {
    __shared__ float buffer[64];
    unsigned mine = (unsigned)__cvta_generic_to_shared(&buffer[threadIdx.x]);
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(mine), "l"(x + i));
        asm volatile("cp.async.wait_all;" ::: "memory");
        float v = buffer[threadIdx.x];
#pragma ccc if
        if (v > 0.5f)
            for (int t = 0; t < 9; ++t) v = v * v + 1;
        y[i] = v;
    }
}
