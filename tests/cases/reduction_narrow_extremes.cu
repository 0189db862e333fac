// run: grid=2 block=96 args=s32:900 s32[900]~-999:999 s32[192]=0 s32[192]=0 s32[192]=0
// Extremes of 16 bits, negative ones among them, and unsigned ones.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const int *x, int *least, int *most, unsigned *unsigned_most) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    short low = 30000, high = -30000;
    unsigned short top = 3;
#pragma ccc for reduction(min: low) reduction(max: high, top)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        int a = x[i];
#pragma ccc if
        if (a % 3 == 0) {
            short value = a * 29;
            for (int k = 0; k < (a & 7); ++k) value = value * 5 + a;
            if (value < low) low = value;
            if (value > high) high = value;
            unsigned short large = value;
            if (large > top) top = large;
        }
    }
    least[thread] = low;
    most[thread] = high;
    unsigned_most[thread] = top;
}
// options: strategy=queue
