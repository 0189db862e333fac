// run: grid=2 block=64 args=s32:13 u32[128]=0
extern "C" __global__ void k(int n, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned sum = i;
    for (int round = 0; round < 5; ++round) {
#pragma ccc while strategy(flatten)
        for (int turn = round; turn < n; ++turn) sum = sum * 5 + 1;
        sum ^= sum >> 3;
    }
    y[i] = sum;
}
