// run: grid=2 block=160 args=s32:900 u32[900]~0:37 u32[900]=0 u32[900]=0 u32[320]=0
// options: strategy=engage_block
// Some warps have lists that are even, which each lane runs by itself before its block meets; others
// share theirs out, and lanes of one have left before.
extern "C" __global__ void __launch_bounds__(256)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ sums, unsigned *__restrict__ ends,
  unsigned *__restrict__ total) {
    if (threadIdx.x / 32 == 4 && threadIdx.x % 3 == 1) return;
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned all = 0;
#pragma ccc for reduction(+: all)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned sum = i, j = x[i] % 3, warp = i / 32;
        unsigned end = warp % 3 == 0 ? 12 + j : warp % 3 == 1 ? x[i] * (i % 8 == 0) * 4 : 0;
#pragma ccc for variable
        for (; j < end; ++j) {
            sum += j * i % 8;
            all += j;
        }
        sums[i] = sum;
        ends[i] = j;
    }
    total[thread] = all;
}
