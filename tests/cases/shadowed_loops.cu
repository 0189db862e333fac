// run: grid=2 block=64 args=s32:10 u32[1280]~0:100 u32[1280]=0
// The annotated loop is the inner one of two.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    for (int row = 0; row < n; row += 5) {
#pragma ccc for
        for (int j = 0; j < 5; ++j) {
            unsigned a = x[(row + j) * 128 + t];
#pragma ccc if
            if (a % 4 == 1) y[(row + j) * 128 + t] = a * row + j;
        }
    }
}
// options: strategy=queue
