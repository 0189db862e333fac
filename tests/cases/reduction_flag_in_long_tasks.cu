// run: grid=1 block=100 args=s32:450 u32[900]~0:4294967296 u32[128]=0 u32[900]=0
// A flag that turns set whatever it was, those of long tasks on other lanes.
extern "C" __global__ void k(int n, const unsigned *x, unsigned *flags, unsigned *y) {
    bool any = false;
#pragma ccc for reduction(|: any)
    for (int i = threadIdx.x; i < n; i += 100) {
        unsigned v = x[i];
#pragma ccc for variable
        for (unsigned j = 0; j < v % 40; j++) {
            unsigned w = x[(v + j) % n];
            if (w % 512 == 7) {
                atomicAdd(&y[i], w);
                any = true;
            }
        }
    }
    flags[threadIdx.x] = any;
}
