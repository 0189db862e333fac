// run: grid=2 block=64 args=s32:300 u32[300]~0:20 u32[300]=0
// The turns of the inner loop add to the same place.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc for variable
        for (unsigned j = 0; j < x[i]; j++) y[i] += j ^ x[i];
    }
}
