// run: grid=2 block=64 args=s32:150 s64[150]~0:900 s32[150]~0:40 s64[950]~0:9 s64[950]~0:9 s64[150]=0
// options: strategy=sub_warp(8)
// A counter of 64 bits, from which two pointers are made.
extern "C" __global__ void __launch_bounds__(128)
k(int n, const long long *__restrict__ begins, const int *__restrict__ lengths,
  const long long *__restrict__ x, const long long *__restrict__ y, long long *__restrict__ out) {
#pragma ccc for
    for (int v = threadIdx.x + blockIdx.x * blockDim.x; v < n; v += blockDim.x * gridDim.x) {
        const long long begin = begins[v], end = begin + lengths[v];
        long long sum = 0;
#pragma ccc for variable reduction(+: sum)
        for (long long e = begin; e < end; ++e) sum += x[e] * y[e];
        out[v] = sum;
    }
}
