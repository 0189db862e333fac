// run: grid=1 block=32 args=u32[256]=0 s32[32]=0 s32[1]=1 s32:256
// In each round of a loop around the annotated one, lanes wait behind it for the first, which is in the next round.
extern "C" __global__ void k(unsigned *out, int *c, volatile int *flag, int n) {
#pragma unroll 1
    for (int round = 0; round < 3; round++) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (i % 3 == 0) out[i] = i;
    }
        if (threadIdx.x != 0) {
            __syncwarp();
            c[threadIdx.x] = c[0] + round;
        }
    }
    if (threadIdx.x == 0)
        for (int round = 0; round < 3; round++) __syncwarp();
}
