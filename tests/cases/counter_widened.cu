// run: grid=1 block=64 args=s32[101]~0:30 s32[3300]~0:90 u32[3300]~0:9 u64[100]=0 s32:100
// options: strategy=engage
// nvcc keeps the counter in 64 bits, since it becomes half of a key, and narrows it to compare it.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ row, const int *__restrict__ other, const unsigned *__restrict__ weight,
  unsigned long long *lightest, int n) {
#pragma ccc for
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        const int begin = 32 * v, end = begin + row[v];
        unsigned long long best = ~0ull;
#pragma ccc for variable reduction(min: best)
        for (int e = begin; e < end; ++e)
            if (other[e] != v) {
                const unsigned long long key = (unsigned long long)weight[e] << 32 | e;
                best = min(best, key);
            }
        lightest[v] = best;
    }
}
