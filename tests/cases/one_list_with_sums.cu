// run: grid=2 block=64 args=s32:200 u32[200]~0:48 f32[2000]~0:1 f32[200]=0 s32[200]=0 s64[200]=0
// options: strategy=engage
// What lanes add up in a list of a few hundred turns stays with them until it ends, wherever in the
// lists of the warp it lies, and however many turns are left then.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, const float *__restrict__ values, float *__restrict__ sums,
  int *__restrict__ least, long long *__restrict__ ends) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        float sum = i;
        int low = 1 << 20;
        long long j = x[i];
        const long long end = x[i] % 5 == 0 ? 255 + x[i] + x[i] / 10 * 256 : x[i] % 7 + x[i];
#pragma ccc for variable reduction(+: sum)
        for (; j < end; ++j) {
            sum += values[j] > 0.5f ? 1 : 3;
            low = min(low, (int)(1000 - j) * (int)(j % 5));
        }
        sums[i] = sum;
        least[i] = low;
        ends[i] = j;
    }
}
