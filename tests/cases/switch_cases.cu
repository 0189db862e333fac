// run: grid=2 block=64 args=s32:700 u32[700]~0:1000 u32[700]=0
// Each case is a path with a stack of its own; one falls through, one does nothing.
extern "C" __global__ void __launch_bounds__(64) k(int n, const unsigned *x, unsigned *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i], r = 1;
#pragma ccc switch
        switch (a % 7) {
            case 0: r = a * 3; break;
            case 1: r = a / 7 + i; break;
            case 2: r = a ^ 85; // falls through
            case 3: r += a % 13; break;
            case 4: case 5: break;
            default: r = __popc(a) * 9;
        }
        y[i] = r + a;
    }
}
