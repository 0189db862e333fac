// run: grid=1 block=32 args=s32[192]~0:2 f32[192]~0:1 f32[2]=0 s32[4]=0 s32:192
// A number is read and taken by a compare-and-swap, of a place that lay in memory; whose it is waits
// for that in both arms.
extern "C" __global__ void __launch_bounds__(128)
k(const int *__restrict__ key, const float *__restrict__ x, float *sum, int *used, int n) {
    __shared__ int *table[2];
    if (threadIdx.x < 2) table[threadIdx.x] = used + 2 * threadIdx.x;
    __syncthreads();
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int *mine = table[key[i]], number;
        do number = *(volatile int *)mine;
        while (atomicCAS(mine, number, number + 1) != number);
        float t = x[i];
#pragma ccc if
        if (t > 0.7f) {
            for (int s = 0; s < 20; ++s) t -= 0.01f * sqrtf(t + 1);
            while (*(volatile int *)(mine + 1) != number);
            sum[key[i]] += t;
            __threadfence();
            atomicAdd(mine + 1, 1);
        } else {
            while (*(volatile int *)(mine + 1) != number);
            sum[key[i]] += t;
            __threadfence();
            atomicAdd(mine + 1, 1);
        }
    }
}
