// run: grid=2 block=96 args=s32:400 u32[400]~0:37 f32[400]=0 u32[400]=0 s32[400]=0 u32[192]=0
// options: strategy=engage
// What the turns add up is there for the rest of the iteration; some lanes have left before.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned *__restrict__ x, float *__restrict__ sums, unsigned *__restrict__ ends,
  int *__restrict__ least, unsigned *__restrict__ total) {
    if (threadIdx.x % 7 == 2 && threadIdx.x < 64) return;
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned all = 0;
#pragma ccc for reduction(+: all)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        float sum = i;
        int low = 1000;
        unsigned j = x[i] % 4;
        const unsigned end = x[i] == 30 ? 400 : x[i] / 2;
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
