// run: grid=2 block=64 args=s32:42 s32[61]~0:260 u32[15660]=0
// A counter that goes down; the addresses go with it.
extern "C" __global__ void __launch_bounds__(64) k(int n, const int *__restrict__ x,
                                                   unsigned *__restrict__ z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc for variable
        for (int j = x[i]; j >= 3; --j) z[260 * i + j] = j * 5 + i;
    }
}
