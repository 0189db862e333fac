// run: grid=1 block=64 args=s32[1100]~0:4 s32[1100]=1 s32:1000
// What lay at a place before is not what lies there in the loop: then as now, "front" leads to b.
struct Buffers { int *front, *back; };
extern "C" __global__ void __launch_bounds__(64) k(int *a, int *b, int n) {
    __shared__ Buffers s;
    if (threadIdx.x == 0) s.front = b, s.back = a;
    __syncthreads();
    int *before = s.front;
    __syncthreads();
    if (threadIdx.x == 0) s.front = a, s.back = b;
    __syncthreads();
#pragma ccc for noalias(s.front, s.back)
    for (int i = threadIdx.x; i < n; i += 64 * before[i]) {
        int v = s.front[i];
#pragma ccc if
        if (v & 1) {
            for (int k = 0; k < (v & 3) + 200; k++) v = v * 7 + k % (v | 1);
            s.back[i] = (v & 1) + 2;
        }
    }
}
