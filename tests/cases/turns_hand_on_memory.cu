// run: grid=1 block=64 args=s32[400]~0:30 s32[4000]~0:9 s32[400]=0 s32:140
// The turns hand values on through memory.
extern "C" __global__ void __launch_bounds__(128) k(const int *x, int *cell, int *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        int left = x[i], *mine = cell + 10 * i;
#pragma ccc while
        while (left > 0) {
            mine[left % 10] += mine[(left + 3) % 10] & 255;
            int turns = mine[left % 10] & 7;
#pragma ccc while
            while (turns > 0) { mine[turns % 10] = mine[(turns + 1) % 10] * 5 + turns & 4095; turns -= 1 + (mine[turns] & 1); }
            left -= 1 + (mine[3] & 1);
        }
        out[i] = mine[0];
    }
}
// options: strategy=merge
