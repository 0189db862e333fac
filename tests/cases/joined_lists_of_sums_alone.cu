// run: grid=2 block=64 args=s32:100 u32[100]~0:50 u32[128]=0
// A turn does nothing but add up, and needs nothing of its task.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *t) {
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = -1;
#pragma ccc for reduction(&: sum)
    for (int i = first; i < n; i += blockDim.x * gridDim.x) {
        unsigned left = x[i] % 50 == 7 ? 900 : x[i] % 4;
#pragma ccc for variable strategy(engage)
        do {
            sum &= n;
        } while (left-- > 0);
    }
    t[first] = sum;
}
