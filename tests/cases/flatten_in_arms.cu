// run: grid=1 block=64 args=s32[128]=0 s32[128]~0:9 s32:12
// Lanes part before two such loops; a third one is met between barriers, again and again.
extern "C" __global__ void k(int *out, const int *count, int n) {
    __shared__ int shared[64];
    int own = threadIdx.x + blockIdx.x * blockDim.x, sum = own;
    if (count[own] > 4) {
        for (int i = 0; i < 5; ++i) {
            int c = count[(own + i) % n] + sum & 7;
#pragma ccc while strategy(flatten)
            while (c-- > 0) sum = sum * 5 + 1;
        }
    } else {
        for (int i = 0; i < 4; ++i) {
            int c = count[(own + i) % n] + sum & 7;
#pragma ccc while strategy(refill(4))
            while (c-- > 0) sum = sum * 3 + 2;
        }
    }
    shared[threadIdx.x] = sum;
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 4; ++i) {
            int c = shared[(threadIdx.x + i) % 64] & 7;
#pragma ccc while strategy(flatten)
            while (c-- > 0) sum = sum * 5 + 1;
        }
        __syncthreads();
        shared[threadIdx.x] += sum;
        __syncthreads();
    }
    out[own] = sum;
}
