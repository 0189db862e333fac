// run: grid=1 block=64 args=s32[1100]~0:4 s32[1100]=1 s32[1100]=1 s32:1100
// The promise is for what lay in "s" before; in the loop the pointers are exchanged.
struct Buffers { int *front; int pad; int *back; };
extern "C" __global__ void __launch_bounds__(64) k(int *a, int *b, int *c, int n) {
    __shared__ Buffers s;
    if (threadIdx.x == 0) s.front = b, s.back = c;
    __syncthreads();
    int *const from = s.front, *const to = s.back;
    __syncthreads();
    if (threadIdx.x == 0) s.front = to, s.back = from;
    __syncthreads();
    const int *now = c;
#pragma ccc for noalias(from, to)
    for (int i = threadIdx.x; i < n; i += 64 * (1 + (now[i] & 1))) {
        now = s.front;
        int v = a[i] + from[i];
#pragma ccc if
        if (v & 1) {
            for (int k = 0; k < (v & 3) + 200; k++) v = v * 7 + k % (v | 1);
            to[i] = (v & 1) + 2;
        }
    }
}
