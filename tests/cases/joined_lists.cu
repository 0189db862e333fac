// run: grid=2 block=100 args=s32:300 u32[300]~0:23 u32[7000]=0 u32[16]=0
// Lists of many lengths, some of them empty, are joined, and the warp goes through them together.
extern "C" __global__ void __launch_bounds__(128)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned *__restrict__ z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc if
        if (x[i] % 3 != 1) {
            const unsigned end = x[i] / 2 * (x[i] % 5 == 2 ? 4 : 1);
#pragma ccc for variable strategy(engage)
            for (unsigned j = 0; j < end; ++j) {
                unsigned value = i * 7 + j * 3;
                atomicAdd(&y[i * 23 + j / 2], value);
                if (value % 4 == 1) atomicAdd(&z[value % 16], j + threadIdx.x / 128);
            }
        }
    }
}
