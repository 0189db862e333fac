// run: grid=1 block=64 args=s32[1100]~0:4 s32[1100]=1 s32[1100]=1 s32:1100 s32:4 s32:0
// The pointers are others in each round: the structure is written as a vector of 32-bit integers.
struct __align__(16) Buffers { int *front; long long many; int *back; long long more; };
extern "C" __global__ void __launch_bounds__(64)
k(int *a, int *b, int *c, int n, int rounds, int which) {
    __shared__ Buffers s[2], other[2];
    if (threadIdx.x == 0) {
        s[0] = other[0] = {b, n, c, n};
        s[1] = other[1] = {c, n, b, n};
    }
    __syncthreads();
    const int *before = nullptr;
    for (int r = 0; r < rounds; ++r) {
        int *const from = s[0].front, *const to = s[0].back;
#pragma ccc for noalias(from, to)
        for (int i = threadIdx.x; i < n; i += 64 * (1 + (before ? before[i] & 1 : 0))) {
            int v = a[i];
#pragma ccc if
            if (v & 1) {
                for (int k = 0; k < (v & 3) + 200; k++) v = v * 7 + k % (v | 1);
                to[i] = (v & 1) + 2;
            }
        }
        before = from;
        s[which] = other[(r + 1) & 1];
    }
}
