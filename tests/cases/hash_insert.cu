// run: grid=2 block=64 args=u32[512]=4294967295 u32[512]=0 u32[300]~0:90 s32:300 u32:511
// A table of keys and one of values, which nothing tells apart: a key's place is taken by a
// compare-and-swap, and no place is ever freed. All who have a key store the same value.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(unsigned *keys, unsigned *values, const unsigned *wanted, int n, unsigned mask) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < n; i += 128) {
        unsigned key = wanted[i], at = key * 5 & mask;
#pragma ccc while
        while (true) {
            unsigned found = atomicCAS(&keys[at], ~0u, key);
            if (found == ~0u || found == key) {
                values[at] = key * 3;
                break;
            }
            at = (at + 1) & mask;
        }
    }
}
