// run: grid=1 block=32 args=u32[256]=0 s32[32]=0 s32[1]=1 s32:256
// The same with a barrier that counts threads.
extern "C" __global__ void k(unsigned *out, int *c, volatile int *flag, int n) {
    if (threadIdx.x != 0) {
        asm volatile("barrier.sync 1, 32;" ::: "memory");
        c[threadIdx.x] = c[0];
    }
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (i % 3 == 0) out[i] = i;
    }
    if (threadIdx.x == 0) {
        c[0] = 7;
        asm volatile("barrier.arrive 1, 32;" ::: "memory");
    }
}
