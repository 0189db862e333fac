// run: grid=1 block=64 args=u32[640]=0 s32[1]=1 s32:640
// One lane waits for a flag, and the others for it, before the loop begins.
extern "C" __global__ void k(unsigned *out, volatile int *flag, int n) {
    if (threadIdx.x == 0)
        while (*flag == 0) {
        }
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (i % 3 == 0) out[i] = i;
    }
}
// options: strategy=queue
