// A loop that reads one array and writes four, and a branch of 100 instructions in it.
//
// What the branch makes is stored with what the other lanes have. So neighbouring lanes share the
// sectors that they read and write as long as they are together; tasks that are done later write
// theirs in parts.

const int ROUNDS = 32;

extern "C" __global__ void __launch_bounds__(256)
streams(int count, unsigned limit, const unsigned* __restrict__ x, unsigned* __restrict__ a,
        unsigned* __restrict__ b, unsigned* __restrict__ c, unsigned* __restrict__ d)
{
    const int stride = gridDim.x * blockDim.x;

    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        unsigned value = x[i];
        #pragma ccc if
        if (value < limit) {
            for (int k = 0; k < ROUNDS; ++k) value = (value ^ value >> 15) * 2246822519u;
        }
        a[i] = value;
        b[i] = value + 1;
        c[i] = value ^ 2;
        d[i] = ~value;
    }
}
