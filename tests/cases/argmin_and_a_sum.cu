// run: grid=2 block=64 args=s32:700 f32[700]~0:90 f32[128]=0 s32[128]=0 f32[128]=0 s32[128]=0
// The least value with its index, beside a sum of floats and a count, in the path and outside of it.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const float *__restrict__ x, float *least, int *at, float *total, int *count) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float best = 1e30f, sum = 0;
    int place = -1, found = 0;
#pragma ccc for reduction(min: best) reduction(+: sum, found)
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        float v = rintf(x[i]);
        found += i & 3;
#pragma ccc if
        if (v < 30) {
            for (int turn = 0; turn < 5; turn++) v = fabsf(v - 7);
            sum += v;
            found++;
            if (v < best) {
                best = v;
                place = i;
            }
        }
    }
    least[thread] = best;
    at[thread] = place;
    total[thread] = sum;
    count[thread] = found;
}
// options: strategy=queue
