// run: grid=2 block=64 args=s32[300]~0:40 s32[300]=0 s32[2]=0 s32:300
// The counter and a sum are elements of one array.
extern "C" __global__ void __launch_bounds__(64)
k(const int *x, int *__restrict__ y, int *__restrict__ stats, int n) {
#pragma ccc for
    for (int i = atomicAdd(&stats[0], 1); i < n; i = atomicAdd(&stats[0], 1)) {
#pragma ccc if
        if (x[i] < 12) {
            int v = x[i];
            for (int t = 0; t < 30; ++t) v = v * 3 + x[t];
            y[i] = v;
            atomicAdd(&stats[1], v);
        }
    }
}
