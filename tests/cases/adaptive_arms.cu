// run: grid=1 block=100 args=s32:100 u32[100]~0:180 u32[100]=0
// options: strategy=adaptive
// Two arms, the second of which many lanes take at first; a lane may leave the loop by a break.
extern "C" __global__ void __launch_bounds__(100)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y) {
    const unsigned trips = x[threadIdx.x];
    unsigned last = 0;
#pragma ccc for
    for (unsigned i = 0; i < trips; ++i) {
        unsigned a = (i * 64 + threadIdx.x) * 2654435761u >> 16;
        if (a == 65535) { last = i; break; }
#pragma ccc if
        if (a % 64 < 2) {
            for (unsigned k = 0; k < a % 7; ++k) a = a * 5 + (a >> 3);
            atomicAdd(&y[a % n], i);
        } else if (a % 64 < (i < 10 ? 60 : 3)) {
            atomicAdd(&y[a % n], 3 * i);
        }
    }
    atomicAdd(&y[threadIdx.x], last);
}
