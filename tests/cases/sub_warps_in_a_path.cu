// run: grid=1 block=128 args=s64:300 u32[300]~0:40 u32[300]=0
// The lists of a branch, in 64 bits and from their ends; some lanes have left before.
extern "C" __global__ void k(long long n, const unsigned *__restrict__ x, unsigned *y) {
    if (threadIdx.x % 5 == 3) return;
#pragma ccc for
    for (long long i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (x[i] < 30) {
#pragma ccc for variable strategy(sub_warp(16))
            for (long long j = 2ll * x[i] - 20; j > -20; j -= 3) {
                atomicAdd(&y[(i + j + 20) % n], (unsigned)(j * j) + (threadIdx.x >> 10));
            }
        }
    }
}
