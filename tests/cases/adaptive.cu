// run: grid=1 block=64 args=s32:64 u32[64]~0:240 u32[64]=0
// options: strategy=adaptive
// Many lanes take the path at first, then few, then none; some lanes have less iterations than others.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y) {
    const unsigned trips = x[threadIdx.x];
#pragma ccc for
    for (unsigned i = 0; i < trips; ++i) {
        unsigned a = (i * 64 + threadIdx.x) * 2654435761u >> 16;
        if (a == 65535) break;
#pragma ccc if
        if (a % 64 < (i < 20 ? 60 : i < 190 ? 3 : 0)) atomicAdd(&y[a % n], i);
    }
}
