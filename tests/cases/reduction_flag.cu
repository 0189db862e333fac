// run: grid=1 block=100 args=u32[128]=0 u32[900]~0:100 s32:900
// A flag that tasks set.
extern "C" __global__ void k(unsigned *o, const unsigned *x, int n) {
    bool any = threadIdx.x % 7 == 0;
#pragma ccc for reduction(| : any)
    for (int i = threadIdx.x; i < n; i += 100) {
        unsigned v = x[i];
#pragma ccc if
        if (v % 3 == 0) {
            for (int k = 0; k < 4; k++) v = v * 7 + k;
            if (v % 31 == 0) any = true;
        }
    }
    o[threadIdx.x] = any;
}
