// run: grid=2 block=64 args=s32:700 f32[700]~0:90 f32[128]=0 s32[128]=0 f32[128]=0
// The least value with its index, beside a sum.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const float *__restrict__ x, float *least, int *at, float *total) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float best = 1e30f, sum = 0;
    int place = -1;
#pragma ccc for reduction(min: best) reduction(+: sum)
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
#pragma ccc if
        if (v < 30) {
            for (int turn = 0; turn < 5; turn++) v = fabsf(v - 7);
            sum += v;
            if (v < best) {
                best = v;
                place = i;
            }
        }
    }
    least[thread] = best;
    at[thread] = place;
    total[thread] = sum;
}
