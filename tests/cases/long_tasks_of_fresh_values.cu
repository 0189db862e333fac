// run: grid=1 block=64 args=s32:100 u32[101]~0:18 u32[64]=0 u32[100]=0
// All lanes read what the owner of a long task has written right before it.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, unsigned *out, unsigned *mid) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        const unsigned end = x[i];
        mid[i] = 3 * end + 1;
#pragma ccc for variable
        for (unsigned j = 0; j < end; ++j) {
            if ((j ^ i) % 3 == 0) atomicAdd(out + j, mid[i] ^ j);
        }
    }
}
