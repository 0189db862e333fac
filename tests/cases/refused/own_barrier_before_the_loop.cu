// run: grid=1 block=32 args=s32:1000 f32[1000]~0:1 f32[1000]=0
// Each lane waits at an mbarrier of its own, where the one before it arrives behind its loop.
extern "C" __global__ void k(int n, const float *__restrict__ x, float *__restrict__ y) {
    __shared__ unsigned long long own[33];
    unsigned at = (unsigned)__cvta_generic_to_shared(&own[threadIdx.x]);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at + 256) : "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" ::"r"(at)
                 : "memory");
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (x[i] > 0.5f) y[i] = expf(x[i]);
    }
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at + 8) : "memory");
}
