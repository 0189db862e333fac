// run: grid=1 block=64 args=u32[512]=0 u32[8192]=0 u32[512]~0:1000000 s32:435
// An annotated loop in another one, whose tasks wait while it runs.
extern "C" __global__ void __launch_bounds__(64) k(unsigned *out, unsigned *each, const unsigned *__restrict__ x, int n) {
#pragma ccc for
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64) {
        unsigned v = x[i];
#pragma ccc if
        if (v % 5 == 0) out[i] = v * v;
#pragma ccc for
        for (int j = 0; j < (int)(v & 15); j++) {
#pragma ccc if
            if ((v + j) % 3 == 0) each[i * 16 + j] = v * j * j;
        }
    }
}
