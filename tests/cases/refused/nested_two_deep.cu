// run: grid=1 block=64 args=s32[64]~0:9 s32[64]~0:9 s32[200]=0 s32:200
// A branch two loops deep: tasks take along those of one loop around them, and not of two.
extern "C" __global__ void __launch_bounds__(64) k(
    const int *__restrict__ n, const int *__restrict__ m, int *__restrict__ out, int items) {
#pragma ccc for
    for (int i = threadIdx.x; i < items; i += blockDim.x) {
        int sum = 0;
#pragma ccc while
        for (int e = 0; e < n[i & 63]; e++) {
#pragma unroll 1
            for (int f = 0; f < m[(e + i) & 63]; f++) {
#pragma ccc if
                if ((sum + e * f) % 3 == 1) sum = sum * 5 + m[sum & 63];
            }
        }
        out[i] = sum;
    }
}
