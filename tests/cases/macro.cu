// run: grid=2 block=64 args=s32:700 u32[700]~0:100 u32[700]=0
#define EVERY _Pragma("ccc for") for
#define SOME _Pragma("ccc if") if
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    EVERY (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        SOME (x[i] < 35) y[i] = x[i] * 3;
}
