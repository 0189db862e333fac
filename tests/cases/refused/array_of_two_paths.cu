// run: grid=1 block=64 args=u32[400]=0 u32[400]~0:1000 s32:400
// Tasks of one path would overwrite what a lane has not saved of its task of the other one.
extern "C" __global__ void __launch_bounds__(128) k(unsigned *out, const unsigned *x, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned a[8]; 
        for (int j = 0; j < 8; j++) a[j] = x[(i + j) % n];
#pragma ccc if
        if (x[i] & 1) { unsigned s = 0; for (int j = 0; j < 9; j++) s = s * 7 + a[s & 7]; out[i] = s; }
        for (int j = 0; j < 8; j++) a[(j + x[i]) & 7] = i * j;
#pragma ccc if
        if (x[i] & 2) { unsigned s = 0; for (int j = 0; j < 9; j++) s = s * 7 + a[s & 7]; atomicAdd(&out[(i + 1) % n], s); }
    }
}
