// run: grid=2 block=64 args=u32[128]~0:9 u32[128]=0
extern "C" __global__ void k(const unsigned *x, unsigned *y) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned turns = x[i], sum = i;
#pragma ccc while strategy(flatten)
    while (turns-- > 0) sum = sum * 5 + 1;
    y[i] = sum;
}
