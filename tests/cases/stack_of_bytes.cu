// run: grid=1 block=64 args=u32[400]=0 u32[400]~0:1000 s32:400
// A stack of bytes goes with its tasks, a table of constants need not, and what was filled before the
// loop stays with its lane.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, const unsigned *x, int n) {
    if (threadIdx.x % 9 == 4) return;
    const unsigned prime[8] = {2, 3, 5, 7, 11, 13, 17, 19};
    unsigned own[4];
    for (int j = 0; j < 4; j++) own[j] = x[threadIdx.x + j];
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned char stack[16]; int top = 0; unsigned s = own[(x[i] + i) & 3];
        stack[top++] = x[i] % 50 + 1;
#pragma ccc while
        while (top) {
            unsigned v = stack[--top];
            s = s * prime[v & 7] + v;
            if (v > 3 && top < 14) { stack[top++] = v / 2; stack[top++] = v / 3; }
            if (s % 97 == 5) break;
        }
        atomicAdd(&out[i], s);
    }
}
