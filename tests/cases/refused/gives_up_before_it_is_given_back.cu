// run: grid=1 block=32 args=s32[400]~0:4 s32[64]=0 s32[64]=0 s32:96
__global__ void k(const int *__restrict__ x, int *__restrict__ lock, int *__restrict__ sums, int n)
{
    bool has = false;
    const int h = threadIdx.x & 7;
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        for (int t = 0; t < 3000 && !has; ++t)
            has = atomicCAS(&lock[h], 0, 1) == 0;
        if (!has)
            continue;
        int turns = x[i + 1];
        #pragma ccc if
        if (turns > 0) {
            int sum = turns;
            for (int j = 0; j < turns + 5; ++j)
                sum += x[(sum + j) & 255] + 1;
            atomicAdd(&sums[h], sum);
        }
    }
    __threadfence();
    if (has)
        atomicExch(&lock[h], 0);
}
