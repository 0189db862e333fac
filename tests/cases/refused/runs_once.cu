// run: grid=2 block=64 args=s32:128 u32[128]~0:100 u32[128]=0
// The loop around the path runs once; the marker falls into the loop outside, which is not annotated.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *y) {
    unsigned sum = 0;
    for (int round = 0; round < n; ++round) {
#pragma ccc for
        for (int j = 0; j < 1; ++j) {
#pragma ccc if
            if (x[(round + threadIdx.x) % n] < 40) sum = sum * 3 + round;
        }
    }
    y[threadIdx.x + blockIdx.x * blockDim.x] = sum;
}
