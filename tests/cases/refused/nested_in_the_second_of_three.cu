// run: grid=1 block=64 args=s32[64]~0:9 s32[64]~3:60 s32[200]=0 s32:200
// What keeps the first of three loops is the second, which holds a path, and not the third.
extern "C" __global__ void __launch_bounds__(64) k(
    const int *__restrict__ n, const int *__restrict__ m, int *__restrict__ out, int items) {
#pragma ccc for
    for (int i = threadIdx.x; i < items; i += blockDim.x) {
        int a = i, b = 0, c = 1;
#pragma ccc while
        while (a % 7 != 0) { a = (a * 5 + 1) % 512; b++; }
#pragma ccc while
        for (int e = 0; e < n[b & 63]; e++) {
            c += e;
#pragma ccc while
            while (c > m[e]) c = c / 3 - 1;
        }
#pragma ccc while
        while (c % 5 != 0) { c = (c * 3 + 1) & 1023; a++; }
        out[i] = a + b + c;
    }
}
