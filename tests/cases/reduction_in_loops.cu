// run: grid=2 block=64 args=s32:150 u32[1200]~0:6 u32[128]=0 u32[128]=0 u32[300]=0
// Accumulators in a path that is a loop, in a path inside it, and in a continuation.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const unsigned *__restrict__ x, unsigned *__restrict__ sum,
    unsigned *__restrict__ most, unsigned *__restrict__ y) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned s = 0, m = 0;
#pragma ccc for reduction(+: s) reduction(max: m)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned count = x[i], value = 1;
#pragma ccc for variable
        for (unsigned j = 0; j < count; ++j) {
            s += x[i + j];
#pragma ccc if
            if (x[2 * i + j] < 5) {
                s += i * 3;
                m = max(m, x[3 * i + j] + i);
            }
        }
#pragma ccc if
        if (count % 3 == 0) {
            value = count * i;
            s += value;
        }
        y[i] = value;
        s += value * 2;
    }
    sum[thread] = s;
    most[thread] = m;
}
