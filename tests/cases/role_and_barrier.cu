// run: grid=1 block=64 args=u32[300]=0 u32[64]=0 s32:120
// Only some lanes have the role; the others go on, and wait at a barrier.
extern "C" __global__ void k(unsigned *out, unsigned *o, int n) {
    __shared__ unsigned t[64];
    t[threadIdx.x] = threadIdx.x * 3;
    if (threadIdx.x % 4 == 1) {
#pragma ccc for
        for (int i = threadIdx.x; i < n; i += 4) {
#pragma ccc if
            if (i % 3 == 0) atomicAdd(&out[i], 1);
        }
        return;
    }
    __syncthreads();
    o[threadIdx.x] = t[(threadIdx.x * 5 + 2) & 63];
}
// options: strategy=queue
