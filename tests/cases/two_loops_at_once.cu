// run: grid=1 block=32 args=u32[640]=0 s32:640
// Lanes of one warp are in two annotated loops at the same time; both keep their tasks in the same
// memory. (Wrong under random schedules.)
extern "C" __global__ void k(unsigned *out, int n) {
    if (threadIdx.x & 1) {
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
            if (i % 3 == 0) out[i] = i;
        }
    } else {
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
            if (i % 5 == 0) out[i] = ~i;
        }
    }
    __syncthreads();
}
// options: strategy=queue
