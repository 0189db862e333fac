// run: grid=1 block=32 args=s32[66]~0:20 u32[66]=0 u32[256]=0 s32[256]=0 u32[32]=0 s32:66
// A loop that only adds to a reduction, before one whose tasks carry those of the loop around both.
extern "C" __global__ void __launch_bounds__(64) k(const int *__restrict__ x, unsigned *out, unsigned *sums, int *most, unsigned *hist, int n) {
    const int thread = threadIdx.x + blockIdx.x * blockDim.x; if (thread % 13 == 5) return;
    unsigned all = 0; int top = -1;
#pragma ccc for reduction(+: all) reduction(max: top)
    for (int i = thread; i < n; i += gridDim.x * blockDim.x) {
        unsigned s = i * 2654435761u >> 7, t = 0; int a = x[i];
#pragma ccc while
        while (a > 0) { a--; unsigned b = s >> 5 & 31;
            s += b * a; s ^= (s >> 3) + b; { int c = (s ^ a) & 3; 
#pragma ccc while
while (c > 0) { all += s & 15; c -= 1 + (s & 1);  } }
 top = max(top, (int)(s & 255)); if ((s & 255) == 9) break; { int c = (s ^ a) & 15; 
#pragma ccc while
do { s = s * 5 + a; top = max(top, (int)(s & 255)); c--; } while (c > 0); }
 top = max(top, (int)(s & 255));
        }
        if (s & 1) out[i] = t;
    }
    sums[thread] = all; most[thread] = top;
}
// options: strategy=merge
