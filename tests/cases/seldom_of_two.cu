// run: grid=1 block=64 args=s32:64 u32[64]~0:14 u32[64]=0
// As seldom.cu with two paths, whose last tasks are run in the loop itself.
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
#pragma ccc if
        if (a % 60 == 1) {
            for (unsigned k = 0; k < a % 5; ++k) a = a * 3 + (a >> 5);
            atomicXor(&y[a % n], i << 20);
        }
    }
}
