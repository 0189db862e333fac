// run: grid=1 block=64 args=s32:90 u32[91]~0:12 s32[800]~0:3000 u32[64]=0
// options: strategy=engage
// The loop inside a list's turn might be flattened, and then the lists would not be shared out.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, const int *__restrict__ values, unsigned *__restrict__ found) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int end = x[i] % 5 == 0 ? x[i] * 60 : x[i] % 3;
#pragma ccc for variable
        for (int j = 0; j < end; ++j) {
            const int m = values[j];
            int d = 2;
#pragma ccc while
            while (d * d <= m && m % d != 0) ++d;
            atomicAdd(&found[d & 63], 1);
        }
    }
}
