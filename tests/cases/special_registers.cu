// run: grid=1 block=(16,6) args=s32:6 u32[192]~0:1000000 u32[2304]=0
// %tid and %laneid inside the path mean the lane that found the task.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * blockIdx.x);
    unsigned h = x[t];
#pragma ccc for
    for (int step = 0; step < n; ++step) {
        unsigned g = (h + step) * 2654435761u;
#pragma ccc if
        if (g >> 30 == 1) {
            unsigned lane, lower;
            asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
            asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
            y[step * 192 + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * blockIdx.x)] =
                lane * 100000 + threadIdx.y * 1000 + __popc(lower) + blockIdx.x;
        }
    }
}
