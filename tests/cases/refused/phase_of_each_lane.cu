// run: grid=1 block=32 args=s32:1000 f32[1000]~0:1 f32[1000]=0
// Half of the lanes wait for one phase of a barrier, and half for the next, which the others end
// behind their loop.
extern "C" __global__ void k(int n, const float *__restrict__ x, float *__restrict__ y) {
    __shared__ unsigned long long phases;
    unsigned at = (unsigned)__cvta_generic_to_shared(&phases);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 16;" ::"r"(at) : "memory");
    __syncthreads();
    const int late = threadIdx.x / 16;
    if (late) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at),
                 "r"(late)
                 : "memory");
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (x[i] > 0.5f) y[i] = expf(x[i]);
    }
    if (!late) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
}
