// run: grid=1 block=64 args=s32:64 u32[64]~0:240 u32[64]=0 u32[64]=0
// The lanes of one warp have too few iterations for finding out anything, those of the other many.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned *__restrict__ z) {
    const unsigned trips = threadIdx.x < 32 ? x[threadIdx.x] % 64 : x[threadIdx.x];
    unsigned sum = 0;
#pragma ccc for reduction(+: sum)
    for (unsigned i = 0; i < trips; ++i) {
        unsigned a = (i * 64 + threadIdx.x) * 2654435761u >> 16;
#pragma ccc if
        if (a % 64 < (i < 20 ? 60 : i < 190 ? 3 : 0)) {
            atomicAdd(&y[a % n], i);
            sum += a;
        }
    }
    z[threadIdx.x] = sum;
}
// options: strategy=adaptive
