// run: grid=1 block=32 args=s32[400]~0:4 s32[64]=0 s32[64]=0 s32:64 s32:1000000
__global__ void k(const int *__restrict__ x, int *lock, int *sums, int n, int times)
{
    #pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int h = x[i], count = x[i + 1];
        bool has = false;
        if (count == 2)
            has = atomicCAS(&lock[h], 0, 1) == 0;
        #pragma ccc if
        if (count > 1) {
            for (int t = 0; !has && t < 2000; ++t)
                has = atomicCAS(&lock[h + t / times], 0, 1) == 0;
            if (has) {
                atomicAdd(&sums[h], count + 1);
                __threadfence();
                atomicExch(&lock[h], 0);
            }
        }
    }
}
