// run: grid=1 block=32 args=s32:64 s32[2048]~0:40 s32[8]=0 s32[8]=0
// What was tried is handed to a function, which writes it where the loop looks.
struct State {
    int done;
    __device__ __noinline__ void tell(int found) { done = found; }
};
extern "C" __global__ void k(int n, const int *__restrict__ x, int *__restrict__ sum, int *lock) {
    const int b = threadIdx.x & 7;
    State state{0};
    while (!state.done) state.tell(atomicCAS(&lock[b], 0, 1) == 0);
#pragma ccc for
    for (int i = 0; i < n; i++) {
        int v = x[threadIdx.x * n + i];
#pragma ccc if
        if (v < 9) atomicAdd(&sum[b], v * v);
    }
    __threadfence();
    atomicExch(&lock[b], 0);
}
