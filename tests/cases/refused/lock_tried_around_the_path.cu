// run: grid=1 block=64 args=s32[200]~0:9 s32[1]=0 s32[1]=0 s32[200]=0 s32:200
// Who has got the lock by a try keeps it in the path; others wait for it behind that.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ x, int *lock, int *count, int *y, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = x[i];
        bool mine = v > 4 && atomicCAS(lock, 0, 1) == 0;
#pragma ccc if
        if (v > 6) {
            int s = v;
            for (int j = 0; j < v; ++j) s = s * 7 + j;
            y[i] = s;
        }
        if (mine) atomicExch(lock, 0);
        if (v < 3) {
            while (atomicExch(lock, 1) != 0);
            *(volatile int *)count += 1;
            __threadfence();
            atomicExch(lock, 0);
        }
    }
}
