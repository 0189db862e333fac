// run: grid=2 block=96 args=s32:900 s32[900]~-99:99 s32[192]=0 u32[192]=0 s64[192]=0
// Extremes of integers that are taken where something else holds, too; one is a plain minimum in
// another place.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const int *x, int *first, unsigned *most, long long *least) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    int low = 1000;
    unsigned high = 0;
    long long wide = 1000;
#pragma ccc for reduction(min: low, wide) reduction(max: high)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        int a = x[i];
#pragma ccc if
        if (a % 3 == 0) {
            int value = a;
            for (int k = 0; k < (a & 7); ++k) value = value * 5 + a;
            if (value > 20 && i < low) low = i;
            if ((value & 6) == 2 && (unsigned)value >= high) high = value;
            if ((value & 4) && wide > value) wide = value;
        }
        low = min(low, a + 500);
    }
    first[thread] = low;
    most[thread] = high;
    least[thread] = wide;
}
// options: strategy=queue
