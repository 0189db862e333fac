// run: grid=2 block=64 args=s32:80 u32[200]~0:60 f32[200]=0
// nvcc: -Xcicc -O0
// Arguments of 64 bits and floating-point ones, literals among them.
#pragma ccc recursion
__device__ float refine(float guess, double of, unsigned long long left) {
    if (left == 0) return guess;
    if (guess > 4.0f) return refine(1.5f, of, left >> 1);
    return refine(0.5f * (guess + (float)(of / guess)), of, left - 1);
}
extern "C" __global__ void k(int n, const unsigned *x, float *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = refine(1.0f, 0.5 * x[i], x[i] % 11);
}
