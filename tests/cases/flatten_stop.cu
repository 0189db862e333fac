// run: grid=2 block=64 args=s32[300]~0:40 s32[41]~-9:9 s32[300]=0 s32[1]=0 s32:280
// Somebody may stop the loop, of whose iterations it is promised that they wait for nobody.
extern "C" __global__ void k(const int *__restrict__ turns, const int *__restrict__ v, int *y,
                             volatile int *stop, int n) {
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        if (*stop) break;
        int sum = 0;
        unsigned m = turns[i];
#pragma ccc while
        while (m > 0) {
            sum += m * v[m];
            m = m / 2 + (m > 5 ? m & 1 : 0);
        }
        y[i] = sum;
    }
}
// options: strategy=flatten
