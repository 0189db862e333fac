// run: grid=2 block=64 args=s32:300 u32[301]~0:12 u32[300]=0 u32[4000]=0
// As in a breadth-first search: vertices outside, neighbours inside, each with its own stack.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned *z) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned count = x[i];
#pragma ccc if
        if (count % 3 != 1) {
#pragma ccc for variable
            for (unsigned j = 0; j < count; ++j) {
                unsigned other = i * 13 + j;
#pragma ccc if
                if (x[other % n] < 5) z[other] = other * 3 + threadIdx.x % 32;
            }
        }
    }
}
