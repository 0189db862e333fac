// run: grid=1 block=32 args=u32[640]=0 s32[1]=1 s32:640
// All lanes wait, each by itself, until another block has set a flag; nobody promises who sets it.
extern "C" __global__ void k(unsigned *out, volatile int *flag, int n) {
    while (*flag == 0) {
    }
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
#pragma ccc if
        if (i % 3 == 0) out[i] = i;
    }
}
