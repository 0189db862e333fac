// run: grid=1 block=64 args=u32[64]=0 u32[300]~0:100 s32:300
// A flag that the path sets at once, whatever it was.
extern "C" __global__ void k(unsigned *o, const unsigned *x, int n) {
    bool any = false;
#pragma ccc for reduction(| : any)
    for (int i = threadIdx.x; i < n; i += 64) {
        unsigned v = x[i];
#pragma ccc if
        if (v % 3 == 0) {
            for (int k = 0; k < 4; k++) v = v * 7 + k;
            atomicAdd(&o[v & 63], 1);
            any = true;
        }
    }
    atomicAdd(&o[threadIdx.x], any);
}
