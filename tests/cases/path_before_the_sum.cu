// run: grid=2 block=64 args=s32:300 u32[301]~0:12 u32[300]=0 u32[300]=0
// What follows the inner loop reads what its paths write.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
#pragma ccc for variable
        for (unsigned j = 0; j < x[i]; ++j) {
#pragma ccc if
            if (x[(i + j) % n] < 6) atomicAdd(&y[i], j);
        }
        z[i] = y[i] * 2;
    }
}
