// run: grid=2 block=64 args=s32:150 u32[301]~0:10 u32[3600]=0
// A task of the branch takes the rest of its turn along, which must not come after what follows the
// loop: so the branch is left alone, and the loop around it is not.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned end = x[i];
#pragma ccc for variable
        for (unsigned j = 0; j < end; ++j) {
            unsigned a = x[(i + j) % n];
#pragma ccc if
            if (a < 6) for (unsigned k = 0; k < 3 + i % 4; ++k) a = a * 5 + (a >> 3);
            y[12 * i + j] = a;
        }
        y[12 * i] = 7;
    }
}
