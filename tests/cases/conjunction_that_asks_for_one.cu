// options: strategy=collect
// run: grid=2 block=64 args=s32:500 s32[500]~0:60 s32[128]=0
// A task begins a conjunction with all bits, of which nvcc asks here whether they are 1.
extern "C" __global__ void __launch_bounds__(64) k(int n, const int *__restrict__ x, int *o) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    int ok = 1;
    #pragma ccc for reduction(&: ok)
    for (int i = t; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = x[i];
        #pragma ccc if
        if (v % 3 == 0) {
            for (int k = 0; k < 90; ++k) v = v * 3 + (v >> 5) + k;
            ok = ok == 1 && v != 12345;
        }
    }
    o[t] = ok;
}
