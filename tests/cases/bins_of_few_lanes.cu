// run: grid=1 block=100 args=s32:300 s32[301]~0:40 s32[300]~0:24 f32[64]~0:1 f32[300]=0
// options: strategy=bins(8)
// Lists of up to 8 turns are kept apart from longer ones: nvcc has taken the first turns out of the loop.
// Here in a block whose last warp has four lanes.
extern "C" __global__ void k(int n, const int *begins, const int *lengths,
                             const float *__restrict__ x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (begins[i] > 12) {
            const int begin = begins[i], end = begin + lengths[i];
            float sum = 0;
            for (int j = begin; j < end; ++j) sum = sum * 0.5f + x[j];
            y[i] = sum;
        }
    }
}
