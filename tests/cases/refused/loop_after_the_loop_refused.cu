// run: grid=1 block=32 args=s32:60 s32[61]~0:26 u32[1600]=0 s32[1]=0 u32[60]=0
// The second loop is annotated, too, but its turns keep a lock.
extern "C" __global__ void k(int n, const int *__restrict__ x, unsigned *y, int *lock, unsigned *z) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc while
        for (int j = 0; j < x[i]; ++j) y[26 * i + j] = j * i;
        unsigned made = i;
        bool holds = false;
#pragma ccc while
        for (int left = x[i]; left > 0;) {
            if (!holds) while (atomicExch(lock, 1) != 0);
            made = made * 3 + left;
            holds = --left % 3 != 0;
            if (!holds) atomicExch(lock, 0);
        }
        z[i] = made;
    }
}
