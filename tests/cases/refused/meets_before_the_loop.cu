// run: grid=1 block=32 args=u32[256]=0 s32[32]=0 s32[1]=1 s32:256
// All but the first lane wait before the loop for that one, which comes to a barrier behind it.
extern "C" __global__ void k(unsigned *out, int *c, volatile int *flag, int n) {
    if (threadIdx.x != 0) {
        __syncwarp();
        c[threadIdx.x] = c[0];
    }
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (i % 3 == 0) out[i] = i;
    }
    if (threadIdx.x == 0) {
        c[0] = 7;
        __syncwarp();
    }
}
