// run: grid=2 block=64 args=s32[21]~0:90 s32[90]~0:19 s32[21]~0:180 s32[200]~0:99 s32[20]=0 s32:20
// options: strategy=merge
// Each row has a table of its own, which is filled between barriers: who looks for a place in it
// waits for nobody, though the same memory is written for the next row.
extern "C" __global__ void __launch_bounds__(64)
k(const int *ar, const int *ac, const int *br, const int *bc, int *count, int n) {
    __shared__ int table[256];
    for (int r = blockIdx.x; r < n; r += gridDim.x) {
        for (int t = threadIdx.x; t < 256; t += 64) table[t] = -1;
        __syncthreads();
        int mine = 0;
#pragma ccc for reduction(+: mine)
        for (int a = ar[r] + threadIdx.x; a < ar[r + 1]; a += 64) {
            int j = ac[a];
#pragma ccc for variable
            for (int b = br[j]; b < br[j + 1]; b++) {
                int c = bc[b], h = c * 107 & 255;
                while (true) {
                    int old = atomicCAS(&table[h], -1, c);
                    if (old == -1) { mine++; break; }
                    if (old == c) break;
                    h = (h + 1) & 255;
                }
            }
        }
        atomicAdd(&count[r], mine);
        __syncthreads();
    }
}
