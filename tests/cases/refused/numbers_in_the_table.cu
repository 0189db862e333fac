// run: grid=1 block=32 args=s32[132]=0 s32:128
// Turns draw numbers from a counter that lies in the array they write to.
extern "C" __global__ void __launch_bounds__(64) k(int *table, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int drawn;
#pragma ccc while strategy(merge)
        while ((drawn = atomicAdd(table, 1)) < 128) {
            int value = drawn;
            for (int k = 0; k < drawn % 7; ++k) value = value * 3 + k;
            table[4 + drawn] = value;
        }
    }
}
