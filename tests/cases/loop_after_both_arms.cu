// run: grid=2 block=64 args=s32:300 u32[300]~0:35 u32[900]=0
// Whichever arm a lane takes, the rest of its iteration goes with the task, and the loop in it.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i], b = a;
#pragma ccc if
        if (a % 4 == 1) for (unsigned k = 0; k < a; ++k) b = b * 7 + (b >> 3);
        else for (unsigned k = 0; k < a; ++k) b = b * 5 + (b >> 2);
#pragma ccc for
#pragma unroll 1
        for (int j = 0; j < 3; ++j) {
#pragma ccc if
            if ((a + b + j) % 3 == 0) y[3 * i + j] = a + b * j;
        }
    }
}
