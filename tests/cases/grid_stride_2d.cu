// run: grid=(3,4) block=(32,4) args=s32:90 s32:15 f32[1350]~0:1 f32[1350]=0
// options: registers=255
// An image, two returns, and a path that returns when it is done.
#pragma ccc grid_stride
extern "C" __global__ void __launch_bounds__(128) k(int w, int h, const float *x, float *y) {
    int column = threadIdx.x + blockIdx.x * blockDim.x;
    if (column >= w) return;
    int row = threadIdx.y + blockIdx.y * blockDim.y;
    if (row >= h) return;
    int i = row * w + column;
    float a = x[i];
#pragma ccc if
    if (a > 0.7f) {
        y[i] = sqrtf(a) + blockIdx.y;
        return;
    }
    y[i] = a + gridDim.x;
}
