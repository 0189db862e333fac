// run: grid=1 block=100 args=s32:100 u32[500]~0:29 f64[500]=0 u32[500]=0
// options: strategy=sub_warp(8)
// Groups of eight lanes share the turns of their tasks; the last warp has four lanes.
extern "C" __global__ void __launch_bounds__(100)
k(int n, const unsigned *__restrict__ x, double *__restrict__ sums, unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        double sum = 0;
        unsigned bits = 0;
#pragma ccc for variable reduction(+: sum)
        for (unsigned j = 0; j < x[i]; ++j) {
            unsigned value = i * 7 + j * 3;
#pragma ccc if
            if (value % 4 == 1) value = value * value % 1000;
            sum += (double)value;
            bits |= 1u << value % 32;
        }
        sums[i] = sum;
        y[i] = bits;
    }
}
