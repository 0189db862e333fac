// run: grid=1 block=64 args=s32[1100]~0:4 s32[1100]=1 s32[1100]=1 s32[1100]=1 s32[1100]=1 s32:1100
// Of each iteration two neighbours in a ring are promised to be apart, and no others: "x" and "z"
// may be one array, though all of them stand in one turn of the loop that nvcc makes.
extern "C" __global__ void __launch_bounds__(64) k(int *a, int *x, int *y, int *z, int *u, int n) {
    int *p = x, *q = y, *r = z, *s = u;
    unsigned j = 0;
#pragma ccc for noalias(p, q)
#pragma unroll 4
    for (int at = threadIdx.x; at < n; ++j) {
        int v = a[at];
        if ((j & 3) == 0) {
#pragma ccc if
            if (v & 1) {
                for (int k = 0; k < (v & 3) + 200; ++k) v = v * 7 + k % (v | 1);
                p[at] = (v & 1) + 2 + (q[at] & 0);
            }
            at += 64 * (1 + (r[at] & 1));
        }
        int *w = p;
        p = q, q = r, r = s, s = w;
    }
}
