// run: grid=2 block=64 args=s32:51 s32[61]~0:260 u32[15660]=0
// A counter of 64 bits.
extern "C" __global__ void __launch_bounds__(64) k(int n, const int *__restrict__ x,
                                                   unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc for variable
        for (long long j = 0; j < x[i]; ++j) y[260 * i + j] = (unsigned)j * i;
    }
}
