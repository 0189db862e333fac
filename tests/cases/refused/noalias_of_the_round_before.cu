// run: grid=1 block=64 args=s32[1100]~0:4 s32[1100]=1 s32[1100]=1 s32:1000 s32:3
// The pointers are others in each round: what "last" was in the round before is "next" in this one.
__device__ int *last, *next;
extern "C" __global__ void __launch_bounds__(64) k(int *a, int *b, int *c, int n, int rounds) {
    if (threadIdx.x == 0) last = b, next = c;
    __syncthreads();
    int *before = last;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        int *from = last, *to = next;
#pragma ccc for noalias(from, to)
        for (int i = threadIdx.x; i < n; i += 64 * (1 + (before[i] & 1))) {
            int v = a[i] + from[i];
#pragma ccc if
            if (v & 1) {
                for (int k = 0; k < (v & 3) + 200; k++) v = v * 7 + k % (v | 1);
                to[i] = (v & 1) + 2;
            }
        }
        before = from;
        __syncthreads();
        if (threadIdx.x == 0) last = to, next = from;
        __syncthreads();
    }
}
