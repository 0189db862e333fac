// run: grid=2 block=64 args=s32[1100]~0:60 s32[1100]=0 f32[128]=0 s32:1100
// What the clauses of a function name is known where it is put in place of its call, too.
__device__ __noinline__ float walk(const int *x, int *y, int n) {
    float s = 1;
#pragma ccc for reduction(+: s) noalias(x, y)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 128 * (1 + (x[i] & 1))) {
        int v = x[i];
#pragma ccc if
        if (v & 1) {
            for (int k = 0; k < (v & 7) + 200; k++) v = v * 7 + k % (v | 1);
            s += v & 15;
            y[i] = v;
        }
    }
    return s;
}
extern "C" __global__ void __launch_bounds__(64) k(const int *x, int *y, float *o, int n) {
    o[blockIdx.x * blockDim.x + threadIdx.x] = walk(x, y, n);
}
