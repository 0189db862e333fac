// run: grid=2 block=64 args=s32:700 u32[700]~0:100 u32[700]=0 u64[700]=0
// One annotation, several copies: all are collected.
template <typename T> __device__ __forceinline__ void visit(int n, const unsigned *x, T *y, T factor) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        T a = x[i];
#pragma ccc if
        if (x[i] < 40) y[i] = a * factor + i;
    }
}
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y, unsigned long long *z) {
    visit<unsigned>(n, x, y, 3);
    visit<unsigned long long>(n, x, z, 1ull << 40);
}
// options: strategy=queue
