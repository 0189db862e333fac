// run: grid=2 block=64 args=s32[300]~0:400 s32[300]=0 s32[2]=0 s32:300
// Turns draw their numbers from an array in which they add up, too, elsewhere.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(const int *x, int *__restrict__ y, int *__restrict__ stats, int n) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < n; i += 128) {
        int t;
#pragma ccc while
        while ((t = atomicAdd(&stats[0], 1)) < n) {
            int v = x[t];
            while (v > 3) v = v * 7 % 33 - 1;
            y[t] = v;
            atomicAdd(&stats[1], v);
        }
    }
}
