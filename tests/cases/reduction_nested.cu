// run: grid=1 block=64 args=s32:250 u32[1500]~0:100 u64[128]=0 u64[128]=0 u32[500]=0
// The owner of a task inside a task is still the lane that the iteration belongs to.
extern "C" __global__ void k(int n, const unsigned *x, unsigned long long *sum,
                             unsigned long long *bits, unsigned *y) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned long long s = 0, b = ~0ull;
#pragma ccc for reduction(+: s) reduction(&: b)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i], r = 0;
#pragma ccc if
        if (a < 60) {
            unsigned c = x[i + n];
            s += c;
            r = c * a;
#pragma ccc if
            if (c < 50) {
                r ^= x[i + 2 * n];
                s += r;
                b &= ~(1ull << (c & 63));
            }
            s -= 7;
        }
        y[i] = r;
    }
    sum[thread] = s;
    bits[thread] = b;
}
