// run: grid=2 block=64 args=s32[4000]~0:9 s32[64]=0 s32[64]=0 s32:400
__global__ void k(const int *__restrict__ x, int *lock, int *sums, int n)
{
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;) {
        int h = x[i];
        if (atomicCAS(&lock[h], 0, 1) != 0)
            continue;
        int count = x[i + 1];
        #pragma ccc if
        if (count > 2) {
            int sum = count;
            for (int j = 0; j < count + 9; ++j)
                sum = sum * 3 + x[(sum & 63) + j];
            atomicAdd(&sums[h], sum);
        }
        __threadfence();
        atomicExch(&lock[h], 0);
        i += gridDim.x * blockDim.x;
    }
}
