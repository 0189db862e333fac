// run: grid=2 block=96 args=s32:900 u32[900]~0:100 u32[192]=0 u32[192]=0 u32[192]=0
// Accumulators of 8 and 16 bits, for which shared memory has no atomic operations.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned *x, unsigned *sum, unsigned *bits, unsigned *common) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned short s = 65000;
    unsigned char b = 3, c = 255;
#pragma ccc for reduction(+: s) reduction(|: b) reduction(&: c)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 30) {
            s += a * a * 31;
            b |= a << 2;
            c &= ~(a & 9);
        }
        if (a % 7 == 0) s -= 5;
    }
    sum[thread] = s;
    bits[thread] = b;
    common[thread] = c;
}
// options: strategy=queue
