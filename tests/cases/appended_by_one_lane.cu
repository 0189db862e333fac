// run: grid=1 block=32 args=s32[1024]~0:9 s32:1024 s32[1]=0 s32[1024]=0
// The mask of the shuffle is in the register in which the loop counts.
extern "C" __global__ void k(const int *__restrict__ x, int n, int *count, int *y) {
    int lane = threadIdx.x & 31;
    int base;
#pragma ccc for
    for (int i = 0; i < n; i += 32) {
        int v = x[i + lane];
        unsigned all = __ballot_sync(0xffffffffu, v > 5);
        if (lane == 0) base = atomicAdd(count, __popc(all));
        base = __shfl_sync(0xffffffffu, base, 0);
#pragma ccc if
        if (v > 5) {
            int at = base + __popc(all & ((1u << lane) - 1));
            int w = v;
#pragma unroll 1
            for (int j = -1; j < v; ++j) w = w * 5 + j;
            y[at] = w;
        }
    }
}
