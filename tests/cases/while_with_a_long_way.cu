// run: grid=1 block=64 args=s32:105 u32[300]=0 s32[300]~0:40
// Several turns take the counter farther than its type goes: who has as many left is not asked.
extern "C" __global__ void __launch_bounds__(64) k(int n, unsigned *out, const int *__restrict__ x) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned sum = i;
#pragma ccc while
        for (unsigned j = x[i] * 2147483649u; j != 0; j -= 2147483649u) sum = sum * 5 + (j >> 3);
        out[i] = sum;
    }
}
// options: strategy=merge
