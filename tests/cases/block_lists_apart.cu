// run: grid=2 block=96 args=s32:400 u32[400]~0:37 f32[400]=0 u32[400]=0
// Some lanes have left before the lists of the block are shared out: those that are there do it.
extern "C" __global__ void __launch_bounds__(96)
k(int n, const unsigned *__restrict__ x, float *__restrict__ sums, unsigned *__restrict__ ends) {
    if (threadIdx.x % 7 == 2 && threadIdx.x < 64) return;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float sum = i;
        unsigned j = 0;
#pragma ccc for variable reduction(+: sum)
        for (; j < x[i]; j += 2) sum += (float)(j * i % 8);
        sums[i] = sum;
        ends[i] = j;
    }
}
// options: strategy=engage_block
