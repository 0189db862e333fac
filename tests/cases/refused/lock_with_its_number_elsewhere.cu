// run: grid=1 block=64 args=s32[256]~0:9 s32[256]=0 s32[1]=0 s32[1]=0 s32[1]=0 s32:256
// What a lock holds that is free lies in other memory: it is no retry with what was found.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ x, int *seen, int *lock, int *sum, int *free_number, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int expected;
        do expected = free_number[0];
        while (atomicCAS(lock, expected, i + 1) != expected);
        *sum += 1;
#pragma ccc if
        if (x[i] > 7) {
            int value = i;
            for (int k = 0; k < 100; ++k) value = value * 3 + (value >> (k & 7));
            seen[i] = value;
        }
        __threadfence();
        atomicExch(lock, expected);
    }
}
