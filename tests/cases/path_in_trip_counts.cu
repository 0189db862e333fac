// run: grid=1 block=64 args=s32:70 u32[301]~0:12 u32[300]=0 u32[8000]=0 u32[16]=0
// Variable trip count: the paths in the inner loop are collected over all its turns. The second one
// needs a continuation.
extern "C" __global__ void k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y,
                             unsigned *__restrict__ z, unsigned *__restrict__ w) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned count = x[i] - 2;
#pragma ccc for variable
        for (int j = 0; j < (int)count; ++j) {
            unsigned other = i * 13 + j, value = 0;
#pragma ccc if
            if (x[other % n] < 5) {
                value = other * 7 + 1;
                if (other % 2) atomicAdd(&w[other % 16], value);
            } else if (j > 6) {
                z[2 * other + 1] = other;
                continue;
            }
            z[2 * other] = value;
        }
    }
}
