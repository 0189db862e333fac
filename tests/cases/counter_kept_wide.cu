// run: grid=1 block=64 args=s32:100 s32[101]~0:30 s32[3300]~0:5 f32[3300]~0:1 f32[3300]=0
// options: strategy=engage
// Over the loop in a turn nvcc keeps the counter in 64 bits, and makes 32 of them to step it.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const int *row, const int *often, const float *w,
                                                   float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        const int begin = 32 * i, end = begin + row[i];
#pragma ccc for variable
        for (int e = begin; e < end; e++) {
            float t = w[e];
            for (int k = 0; k < often[e]; k++) t = t * 0.5f + 1;
            y[e] = t;
        }
    }
}
