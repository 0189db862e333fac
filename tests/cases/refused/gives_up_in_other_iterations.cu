// run: grid=1 block=32 args=s32[400]~0:4 s32[64]=0 s32[64]=0 s32:96
__global__ void k(const int *x, int *lock, int *sums, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int h = x[i], turns = x[i + 1] * 3 + 2;
        bool has = false;
        for (int t = 0; t < 3000 && !has; ++t)
            has = atomicCAS(&lock[h], 0, 1) == 0;
        if (!has)
            continue;
        int sum = 0;
        #pragma ccc while strategy(flatten)
        for (int j = 0; j < turns; ++j)
            sum += x[(sum + j) & 255] + 1;
        atomicAdd(&sums[h], sum);
        __threadfence();
        atomicExch(&lock[h], 0);
    }
}
