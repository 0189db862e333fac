// run: grid=1 block=32 args=u32[256]=0 s32[32]=0 s32[1]=1 s32:256
// All but the first lane wait for what that sets behind the loop, up to a limit that they would now run into.
extern "C" __global__ void k(unsigned *out, int *c, volatile int *flag, int n) {
    int ok = 1, looks = 0;
    if (threadIdx.x != 0)
        while (!*flag)
            if (++looks > 3000) {
                ok = 0;
                break;
            }
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (i % 3 == 0) out[i] = i;
    }
    if (threadIdx.x == 0) *flag = 1;
    c[threadIdx.x] = ok;
}
