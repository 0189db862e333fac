// run: grid=1 block=32 args=s32:512 u32[512]~0:100 u32[512]=0
// All lanes come to the shuffle, but what follows the path would have to run with its tasks.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int first = 0; first < n; first += 32) {
        int i = first + threadIdx.x;
        unsigned v = x[i];
#pragma ccc if
        if (v < 25)
            for (int t = 0; t < 3; ++t) v = v * v + i;
        y[i] = v + __shfl_sync(0xffffffff, x[i], 3);
    }
}
