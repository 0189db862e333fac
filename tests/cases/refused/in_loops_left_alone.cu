// run: grid=1 block=64 args=u32[64]=0 u32[64]~0:9 s32:256
// Loops in loops in one that is left alone: its reason is told once, how deep ever they lie.
extern "C" __global__ void k(unsigned *out, const unsigned *__restrict__ x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned a[8] = {}, v = x[i & 63];
#pragma ccc while
        for (unsigned j = 0; j < v; j++) {
            a[(j * v) & 7] += a[(j + v) & 7] + j;
#pragma ccc while
            for (unsigned k = 0; k < (v ^ j); k++) {
                atomicAdd(&out[k & 63], k);
#pragma ccc if
                if ((j + i + k) % 5 == 0) atomicAdd(&out[j & 63], v * j);
            }
        }
        atomicAdd(&out[i & 63], a[v & 7]);
    }
}
