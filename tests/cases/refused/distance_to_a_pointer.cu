// run: grid=1 block=64 args=u32[1200]~0:99 u32[1200]=0 u32[1200]~0:9 u64[4]=1 s32:1000
// A function is told memory of the thread's own, and how far from there the elements of x lie.
typedef unsigned long long word;
__device__ __noinline__ void far(unsigned *own, word times, word distance, unsigned value) {
    *(unsigned *)((word)own + times * distance) = value;
}
extern "C" __global__ void __launch_bounds__(64)
    k(unsigned *x, unsigned *__restrict__ z, const unsigned *__restrict__ u,
      const word *__restrict__ c, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (u[i] < 3) {
            unsigned own[8];
            for (int j = 0; j < 8; j++) own[j] = j;
            far(own, c[i & 3], (word)(x + i) - (word)own, u[i] * 9 + 2);
            z[i] = own[i & 7];
        }
        i += (x[i] & 1) * 64;
    }
}
