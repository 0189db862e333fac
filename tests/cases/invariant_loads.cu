// run: grid=1 block=64 args=s32:100 u32[100]~0:40 u32[100]~0:999 u32[256]~0:999 u32[100]=0
// first[i] is the same in all turns of a list, table[0] in all iterations.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const unsigned *__restrict__ length, const unsigned *__restrict__ first,
    const unsigned *__restrict__ table, unsigned *__restrict__ y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned sum = 0, end = length[i];
#pragma ccc for variable
        for (unsigned j = 0; j < end; ++j) sum += table[(first[i] + j) & 255];
        y[i] = sum * table[0];
    }
}
