// run: grid=2 block=64 args=s32:300 u32[64]~0:90 u32[300]=0 u32[64]=0
// Each turn adds the same high half of a product: ptxas must not be given many of them in a row.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, unsigned *__restrict__ y, unsigned *__restrict__ z) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
#pragma ccc for
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = x[i % 64] * 50331653u, sum = i, turns = v % 8 == 0 ? 60 : v % 5;
#pragma ccc for variable
        for (unsigned j = 0; j < turns; ++j) {
            sum += __umulhi(v, v);
            atomicMax(&z[i % 64], j);
        }
        y[i] = sum;
    }
}
// options: strategy=merge
