// run: grid=1 block=32 args=s32[128]~0:9 s32[128]=0 s32[1]=0 s32[1]=0 s32:128
// Each turn does what its state asks for; the lock is tried for in one turn, and given back in
// another.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ x, int *seen, int *lock, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int state = i % 3 ? 0 : 3, weight = x[i] + 1;
#pragma ccc while strategy(merge)
        while (state < 3) {
            if (state == 0) {
                if (atomicCAS(lock, 0, 1) == 0) state = 1;
            } else if (state == 1) {
                weight = weight * 7 + 1;
                if (weight > 100) state = 2;
            } else {
                *sum += 1;
                __threadfence();
                atomicExch(lock, 0);
                state = 3;
            }
        }
        seen[i] = weight;
    }
}
