// run: grid=1 block=64 args=u32[1200]~0:99 u32[1200]=0 u32[1200]~0:9 u64[4]=1 s32:1000
// What the path writes through is computed from both parameters, and is x where c is 1.
typedef unsigned long long word;
extern "C" __global__ void __launch_bounds__(64)
    k(unsigned *__restrict__ x, unsigned *__restrict__ z, const unsigned *__restrict__ u,
      const word *__restrict__ c, int n) {
    unsigned *q = (unsigned *)((word)z + c[threadIdx.x & 3] * ((word)x - (word)z));
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (u[i] < 3) {
            unsigned h = u[i];
            for (int k = 0; k < 5; k++) h = h * 1664525u + 1013904223u;
            q[i] = h;
        }
        i += (x[i] & 1) * 64;
    }
}
