// run: grid=1 block=64 args=f32[300]~0:3 s32[301]~0:60 s32[60]~0:59 f32[300]=0 s32[60]=0 s32:300
// What is set before the turns nvcc copies in each of them, so that it would be of the last turn.
extern "C" __global__ void __launch_bounds__(64)
k(const float *__restrict__ x, const int *__restrict__ row, const int *__restrict__ to,
  float *__restrict__ y, int *sum, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i] * 0.5f;
        if (v > 1) {
            v = 0;
            const int end = row[i];
#pragma ccc for variable strategy(engage)
            for (int j = row[i + 1] / 2; j < end; ++j) atomicAdd(&sum[to[j]], j);
        }
        y[i] = v;
    }
}
