// run: grid=1 block=64 args=s32:100 u32[201]~0:30 u32[8000]=0
// The bound is loaded again in each turn, although no turn writes it.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *row, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc for variable
        for (unsigned j = 0; j < row[i + 1]; ++j) y[i * 32 + j] = i * j + row[i];
    }
}
