// run: grid=1 block=32 args=u64[32]=0 u32[640]=0 s32:640
// Lanes that pass the second loop by read their sum of the first one where the others then save
// tasks. The ballot at the branch between waits for them, but orders no memory.
extern "C" __global__ void __launch_bounds__(32) k(unsigned long long *o, unsigned *y, int n) {
    int t = threadIdx.x;
    int i = t;
    unsigned long long a = 0;
#pragma ccc for reduction(+ : a)
    do {
#pragma ccc if
        if (i % 3 == 0) a += (unsigned long long)i << 33;
        i += 32;
    } while (i < n);
    o[t] = a;
    if (t % 5) {
        i = t;
#pragma ccc for
        do {
#pragma ccc if
            if (i % 7 == 0) y[i] = i * i;
            i += 32;
        } while (i < n);
    }
    __syncthreads();
}
