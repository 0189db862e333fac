// run: grid=1 block=64 args=s32:64 u32[64]~0:40 u32[64]=0
// Often no lane of a warp has a task in a round, and some have no iteration left while others do.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y) {
    const unsigned trips = x[threadIdx.x];
#pragma ccc for
    for (unsigned i = 0; i < trips; ++i) {
        unsigned a = (i * 64 + threadIdx.x) * 2654435761u >> 16;
#pragma ccc if
        if (a % 50 == 0) {
            for (unsigned k = 0; k < a % 7; ++k) a = a * 5 + (a >> 3);
            atomicAdd(&y[a % n], i);
        }
    }
}
