// run: grid=1 block=64 args=s32[4096]~0:9 s32[64]=0 s32[64]=0 s32[4096]=0 s32:400
__global__ void k(const int *__restrict__ x, int *__restrict__ lock, int *__restrict__ sums,
                  int *__restrict__ ready, int n)
{
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int count = x[i + 1];
        #pragma ccc if
        if (count > 2) {
            int found = 1;
            while (found < 4) {
                int place = i - found * found;
                if (place < 0 || *(volatile int *)&ready[place])
                    ++found;
            }
            atomicAdd(&sums[count], i);
        }
        atomicExch(&ready[i], 1);
    }
}
