// run: grid=2 block=160 args=s32:700 u32[700]~0:37 f32[700]=0 u32[700]=0 s32[700]=0 u32[320]=0
// nvcc: -arch=sm_75
// options: strategy=engage_block
// All warps of a block share their lists. Some threads have left before, one warp of them whole;
// some warps have far longer lists, and some have no iteration. The launch is smaller than blocks
// may be.
extern "C" __global__ void __launch_bounds__(256)
k(int n, const unsigned *__restrict__ x, float *__restrict__ sums, unsigned *__restrict__ ends,
  int *__restrict__ least, unsigned *__restrict__ total) {
    if ((threadIdx.x % 7 == 2 && threadIdx.x < 64) || threadIdx.x / 32 == 2) return;
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned all = 0;
#pragma ccc for reduction(+: all)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        float sum = i;
        int low = 1000;
        unsigned j = x[i] % 4, end = threadIdx.x / 32 == 3 ? x[i] * 3 : x[i] / 4;
#pragma ccc for variable reduction(+: sum)
        for (; j < end; j += 2) {
            sum += (float)(j * i % 8);
            low = min(low, (int)(i * 5 + j * 11) % 97);
            all += j;
        }
        sums[i] = sum;
        least[i] = low;
        ends[i] = j;
    }
    total[thread] = all;
}
