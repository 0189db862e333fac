// run: grid=1 block=100 args=s32:300 u32[1500]~0:100 u32[1500]=0 u32[200]=0
// Cases that exclude one another are served together; some of them come often, some hardly ever.
extern "C" __global__ void __launch_bounds__(100)
k(int n, const unsigned *x, unsigned *y, unsigned *sum) {
    int thread = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned s = 0;
#pragma ccc for reduction(+: s)
    for (int i = thread; i < n; i += blockDim.x * gridDim.x) {
        unsigned a = x[i], r = i;
#pragma ccc switch
        switch (a < 50 ? 7 : a % 6) {
        case 0: r = a * a + i; break;
        case 1: r = (a << 7) ^ threadIdx.x; s += a; break;
        case 2:
            for (unsigned j = 0; j < a % 8; ++j) r = r * 3 + j;
            break;
        case 3: r /= 7; break;
        case 5: s += r * 5; break;
        case 7: r = __brev(a) ^ 0x55; break;
        default: s += 100;
        }
        y[i] = r + (r >> 3);
        if (a % 9 == 0) s += r;
    }
    sum[thread] = s;
}
