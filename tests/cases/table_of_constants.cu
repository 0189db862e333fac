// run: grid=1 block=64 args=u32[300]=0 s32:300
// A table of constants in local memory is the same on all lanes.
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int t[6] = {3, 1, 4, 1, 5, 9};
        out[i] = t[i % 6];
#pragma ccc if
        if (i % 3 == 0) {
            unsigned s = i;
            for (int k = 0; k < 9; k++) s = s * 7 + t[s % 6];
            out[i] += s;
        }
    }
}
// options: strategy=queue
