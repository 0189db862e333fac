// run: grid=1 block=64 args=s32[4096]~0:9 s32[64]=0 s32[64]=0 s32[4096]=0 s32:400
__global__ void k(const int *__restrict__ x, int *__restrict__ lock, int *__restrict__ sums,
                  int *__restrict__ ready, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, slot = threadIdx.x;
    #pragma ccc for
    for (int t = 0; t < 20000; ++t) {
        if (i >= n)
            break;
        slot = (slot + 1) & 7;
        if (atomicCAS(&lock[slot], 0, 1) != 0)
            continue;
        int count = x[i + 1];
        #pragma ccc if
        if (count > 2)
            atomicAdd(&sums[count], ready[x[i]] + i);
        __threadfence();
        atomicExch(&lock[slot], 0);
        i += gridDim.x * blockDim.x;
    }
}
