// run: grid=2 block=64 args=s32:500 u32[500]~0:100 u32[500]=0
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    unsigned table[12];
    for (int j = 0; j < 12; ++j) table[j] = x[j * threadIdx.x % n] + j;
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] < 40) {
            y[i] = table[x[i] % 12] + table[i % 12];
        }
    }

}
