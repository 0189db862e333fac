// run: grid=1 block=64 args=s32[128]=0 s32[128]~0:9 s32:25
// Lanes that pass by the first loop must not wait at the second one for those in the first.
extern "C" __global__ void k(int *out, const int *count, int n) {
    int own = threadIdx.x + blockIdx.x * blockDim.x, sum = own;
    if (count[own] > 4) {
        for (int i = 0; i < 5; ++i) {
            int c = count[(own + i) % n] + sum & 7;
#pragma ccc while strategy(flatten)
            while (c-- > 0) sum = sum * 5 + 1;
        }
    }
    for (int i = 0; i < 4; ++i) {
        int c = count[(own + i) % n] + sum & 7;
#pragma ccc while strategy(flatten)
        while (c-- > 0) sum = sum * 3 + 2;
    }
    out[own] = sum;
}
