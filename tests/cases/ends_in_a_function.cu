// run: grid=1 block=32 args=u32[640]=0 s32:640
// Lanes that end inside a called function, after they were counted as members: the tasks that fall
// to them are lost.
__device__ __noinline__ unsigned leave(unsigned t) {
    if (t % 7 == 1) asm volatile("exit;");
    return t;
}
extern "C" __global__ void k(unsigned *out, int n) {
    int t = threadIdx.x;
    if (t % 5) {
        int i = leave(t);
#pragma ccc for
        do {
#pragma ccc if
            if (i % 3 == 0) out[i] = i;
            i += 32;
        } while (i < n);
    }
    __syncthreads();
}
// options: strategy=queue
