// run: grid=1 block=64 args=s32[200]~0:9 u32[1]=0 u32[1]=0 s32[1]=0 u32[200]=0 s32:200
// Lanes draw tickets before the path, and wait there until these are served.
extern "C" __global__ void __launch_bounds__(64)
k(const int *__restrict__ x, unsigned *__restrict__ next, unsigned *__restrict__ serving, int *sum,
  unsigned *ticket, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int v = x[i];
        unsigned mine = 0;
        if (v > 6) mine = atomicAdd(next, 1);
        *(volatile unsigned *)(ticket + i) = mine;
#pragma ccc if
        if (v > 6) {
            while (*(volatile unsigned *)serving != mine);
            *(volatile int *)sum += v;
            __threadfence();
            atomicAdd(serving, 1);
        }
    }
}
