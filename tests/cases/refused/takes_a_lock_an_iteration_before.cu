// run: grid=1 block=64 args=s32[4096]~0:9 s32[64]=0 s32[64]=0 s32[4096]=0 s32:400
__global__ void k(const int *__restrict__ x, int *__restrict__ lock, int *__restrict__ sums,
                  int *__restrict__ ready, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool has = false;
    #pragma ccc for
    while (i < n) {
        int h = x[i];
        if (!has) {
            has = atomicCAS(&lock[h], 0, 1) == 0;
            continue;
        }
        int count = x[i + 1];
        #pragma ccc if
        if (count > 2)
            atomicAdd(&sums[count], ready[h] + i);
        __threadfence();
        atomicExch(&lock[h], 0);
        has = false;
        i += gridDim.x * blockDim.x;
    }
}
