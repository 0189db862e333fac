// run: grid=2 block=96 args=s32:900 u32[901]~0:9 u32[16]=0 u64[200]=0
// Some warps have lists of one length, which they keep; those of others differ, some are empty.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ z,
  unsigned long long *__restrict__ sum) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
#pragma ccc for
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        const int end = i / 32 % 3 == 0 ? i % 8 == 0 ? 5 : 6 : i / 32 % 3 == 1 ? 0 : i % 32 == 3 ? 90 * x[i] : x[i];
        unsigned s = 7;
#pragma ccc for variable reduction(+: s)
        for (int j = 0; j < end; ++j) s += (j + i) * x[j];
        atomicAdd(&z[i % 16], s);
        if (i < 200) sum[i] = s;
    }
}
// options: strategy=engage
