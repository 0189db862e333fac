// run: grid=1 block=64 args=s32[256]~0:9 s32[256]=0 s32[1]=0 s32:256
// A plain load, which a fence has made again, waits for what others do behind the loop.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ x, int *__restrict__ seen, int *flag, int n) {
    int own = threadIdx.x & 1 ? n : n / 2;
#pragma ccc for
    for (int i = threadIdx.x; i < own; i += blockDim.x) {
        if (i >= n / 2) while (*flag == 0) __threadfence();
#pragma ccc if
        if (x[i] > 4) {
            int value = i;
            for (int k = 0; k < x[i]; ++k) value = value * 3 + k;
            seen[i] = value;
        }
    }
    if (!(threadIdx.x & 1)) atomicExch(flag, 1);
}
