// run: grid=1 block=64 args=s32:1000 f32[1000]~0:1 f32[1000]=0
// Each thread waits for the one before it. What it then awaits are its own copies, no other lane.
extern "C" __global__ void k(int n, const float *__restrict__ x, float *__restrict__ y) {
    __shared__ volatile unsigned turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    while (turn != threadIdx.x) continue;
    asm volatile("cp.async.wait_all;" ::: "memory");
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5f) y[i] = expf(x[i]);
    }
    turn = threadIdx.x + 1;
}
