// run: grid=1 block=100 args=u32[300]=0 s32:30 s32:7 u32:38
// Random walks, one after the other: where one ends, the next one begins in the same state.
extern "C" __global__ void k(unsigned *out, int n, int walks, unsigned seed) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    unsigned state = seed ^ i * 2654435761u, total = 0;
    for (int walk = 0; walk < walks; ++walk) {
        int x = 3;
#pragma ccc while strategy(flatten)
        while (x > 0 && total < 1500) {
            state = state * 1664525u + 1013904223u;
            x += (int)(state >> 30) - 2;
            ++total;
        }
    }
    out[i] = total;
}
