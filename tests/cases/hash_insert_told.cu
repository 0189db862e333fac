// run: grid=2 block=64 args=u32[512]=0 s32[300]=0 u32[300]~1:90 s32:300 u32:511
// Who finds his key in the table notes that: one register holds the note, and before it what a
// free place is compared with.
// options: strategy=merge
extern "C" __global__ void __launch_bounds__(64)
k(unsigned *__restrict__ keys, int *seen, const unsigned *wanted, int n, unsigned mask) {
#pragma ccc for
    for (int i = threadIdx.x + 64 * blockIdx.x; i < n; i += 128) {
        unsigned key = wanted[i] % 90, at = key * 5 & mask;
        int again = 0;
#pragma ccc while
        while (true) {
            unsigned found = atomicCAS(&keys[at], 0u, key);
            if (found == 0) break;
            if (found == key) { again = 1; break; }
            at = (at + 1) & mask;
        }
        atomicAdd(&seen[key], again);
    }
}
