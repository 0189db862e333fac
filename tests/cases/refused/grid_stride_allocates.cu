// run: grid=4 block=64 args=s32:256 u32[256]~0:100 u32[256]=0
#pragma ccc grid_stride
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned *scratch = (unsigned *)alloca(4 * (n % 7 + 1));
    for (int j = 0; j <= n % 7; ++j) scratch[j] = x[(i + j) % n];
    y[i] = scratch[x[i] % (n % 7 + 1)];
}
