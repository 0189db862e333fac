// run: grid=2 block=64 args=f32[640]~0:1 f32[640]=0 s32[640]=0 s32[640]=0 s32[1]=0 s32:640
// What an iteration reads of others' counter goes into the log, which the path may write, and to
// the next iteration. Read by a task and by its owner, it would be two numbers.
__device__ __forceinline__ int look(const int *counter) {
    int number;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(number) : "l"(counter));
    return number;
}
extern "C" __global__ void k(const float *__restrict__ x, float *y, int *log, int *__restrict__ z,
                             int *__restrict__ counter, int n) {
    if (blockIdx.x == 0) {
        int number = -1;
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += 64) {
            z[i] = number;
#pragma ccc if
            if (x[i] > 0.3f) y[i] = expf(x[i]);
            number = look(counter);
            log[i] = number;
        }
    } else {
        for (int j = 0; j < 300; j++) atomicAdd(counter, 1);
    }
}
