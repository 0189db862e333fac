// run: grid=2 block=64 args=u32[700]~1:64 u32[600]~0:5 u32[600]=0 u32[128]=0
// The inner loop cannot be shared out: two of its tasks, on two lanes, may belong to one lane.
extern "C" __global__ void __launch_bounds__(64)
k(const unsigned *x, const unsigned *degree, unsigned *y, unsigned *total) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned found = 0;
#pragma ccc for reduction(+ : found)
    for (int i = thread; i < 600; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (i & 1) {
            unsigned sum = 0;
            const int turns = degree[i] + 1;
#pragma ccc for variable strategy(engage)
            for (int e = 0; e < turns; ++e) {
                sum += x[i + e];
                found += x[i + e] & 3;
            }
            y[i] = sum;
        }
    }
    total[thread] = found;
}
