// run: grid=2 block=96 args=s32:900 u32[940]~0:40 u32[192]=0 u32[192]=0 u32[192]=0
// Flags that an inner loop updates, which nvcc writes four turns at a time: those of fewer turns
// never come to a place where none is left.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned *x, unsigned *any, unsigned *all, unsigned *by_task) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    bool some = false, every = true, each = true;
#pragma ccc for reduction(|: some) reduction(&: every, each)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned turns = x[i];
#pragma ccc if
        if (turns % 3) {
            bool mine = true;
            for (int k = 0; k < turns; ++k) some |= x[i + k] == k + 37;
            for (int k = 0; k < turns; ++k) every &= x[i + k] * 40 + 30 > k;
            for (int k = 0; k < turns; ++k) mine &= x[i + k] * 39 >= k;
            each &= mine;
        }
    }
    any[thread] = some;
    all[thread] = every;
    by_task[thread] = each;
}
// options: strategy=queue
