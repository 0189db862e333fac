// run: grid=1 block=32 args=s32[4096]~0:9 s32[64]=0 s32[64]=0 s32:96
__global__ void k(const int *__restrict__ x, int *__restrict__ lock, int *__restrict__ sums, int n)
{
    int h = -1;
    #pragma ccc for
    for (int i = threadIdx.x; i < n + blockDim.x; i += blockDim.x) {
        int count = x[i];
        #pragma ccc if
        if (count > 4) {
            int sum = count;
            for (int j = 0; j < count + 9; ++j)
                sum = sum * 3 + (sum >> 3) + j;
            atomicAdd(&sums[count], sum);
        }
        if (h >= 0) {
            __threadfence();
            atomicExch(&lock[h], 0);
            h = -1;
        } else {
            h = x[i + 1];
            while (atomicCAS(&lock[h], 0, 1) != 0)
                ;
        }
    }
}
