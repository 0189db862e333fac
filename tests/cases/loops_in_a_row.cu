// run: grid=2 block=48 args=s32:300 s32[300]~0:9 s32[300]~0:12 u32[300]=0
// Two loops one after the other: tasks of the first one become tasks of the second one. Some lanes
// pass the first one by, and some the second.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const int *__restrict__ x, const int *__restrict__ z, unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned value = i;
#pragma ccc while
        for (int left = x[i]; left > 0; --left) value = value * 3 + left;
#pragma ccc while
        for (int left = z[i]; left > 0; left -= 1 + (value & 1)) value = value * 5 + left;
        y[i] = value;
    }
}
// options: strategy=merge
