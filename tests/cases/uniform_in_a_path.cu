// run: grid=2 block=48,2 args=s32:700 u64[701]~0:60 u32[11200]~0:99 u32[11200]=0 u64[192]=0
// Lists in a path, whose last warp has fewer lanes, and some of which have returned: counters of 64
// bits that go down, a sum for the annotated loop, and a loop of another kind in the turns.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned long long *__restrict__ length, const unsigned *__restrict__ x,
  unsigned *__restrict__ y, unsigned long long *__restrict__ sum) {
    const int thread = threadIdx.x + 48 * (threadIdx.y + 2 * blockIdx.x);
    if (thread % 7 == 3) return;
    unsigned long long s = thread;
#pragma ccc for reduction(+: s)
    for (int i = thread; i < n; i += 192) {
#pragma ccc if
        if (length[i] % 5 != 1) {
#pragma ccc for variable strategy(uniform)
            for (long long j = length[i] / 4; j > 0; j -= 2) {
                unsigned value = x[16 * i + j];
                s += value;
#pragma ccc if strategy(merge)
                if (value % 3 == 0) y[16 * i + j] = value / 3 + threadIdx.x;
#pragma ccc while
                while (value % 8 != 5) {
                    value = value * 5 + 1;
                    if (value > 100000) break;
                    s += value;
                }
            }
        }
    }
    sum[thread] = s;
}
