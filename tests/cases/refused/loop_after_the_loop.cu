// run: grid=2 block=64 args=s32:60 s32[61]~0:26 u32[1600]=0 u32[1600]=0
// The second loop may touch what the first one writes, so that it would have to go with its tasks.
extern "C" __global__ void k(int n, const int *x, unsigned *y, unsigned *z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc for variable
        for (int j = 0; j < x[i]; ++j) y[26 * i + j] = j * i;
        for (int j = 0; j < x[i]; ++j) z[26 * i + j] = j * 5 + i;
    }
}
