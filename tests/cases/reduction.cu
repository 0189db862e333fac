// run: grid=2 block=96 args=s32:900 u32[900]~0:100 s32[192]=0 s32[192]=0 u32[192]=0 u64[192]=0
// Accumulators that are written in a path: the owner of each task ends with its own sum.
extern "C" __global__ void k(int n, const unsigned *x, int *sum, int *least, unsigned *bits,
                             unsigned long long *wide) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    int s = 3, m = 1000;
    unsigned b = 0;
    unsigned long long w = 1;
#pragma ccc for reduction(+: s, w) reduction(min: m) reduction(^: b)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i];
#pragma ccc if
        if (a < 30) {
            s += a * a;
            m = min(m, (int)(a * 7 % 31));
            if (a % 2) b ^= a << (a % 5);
            w += (unsigned long long)a * i;
        }
        if (a % 7 == 0) s -= 5;
    }
    sum[thread] = s;
    least[thread] = m;
    bits[thread] = b;
    wide[thread] = w;
}
// options: strategy=queue
