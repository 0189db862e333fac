// run: grid=1 block=96 args=s32:150 s32:3 u32[150]~0:40 u32[4000]~0:1000 u32[16]=0 u32[150]=0
// options: strategy=engage
// Some lists have a few hundred turns: lanes go through them without asking whose each turn is.
extern "C" __global__ void __launch_bounds__(96)
k(int n, int step, const unsigned *__restrict__ x, const unsigned *__restrict__ values,
  unsigned *__restrict__ found, unsigned *__restrict__ last) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int begin = x[i] * 5;
        const int end = x[i] % 6 == 0 ? begin + 250 + x[i] * 9 : begin + x[i] % 9;
#pragma ccc for variable
        for (int j = begin, at = i; j < end; ++j, at += step) {
            atomicAdd(&found[values[j] % 16], at + values[j]);
            atomicMax(&last[i], j * 8 + at);
        }
    }
}
