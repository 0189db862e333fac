// run: grid=1 block=32 args=u64[32]=0 u32[32]=0 s32:640
// The first loop's sums (8 bytes a lane) are still being read when a faster lane clears its sum of
// the second loop (4 bytes a lane).
extern "C" __global__ void __launch_bounds__(32) k(unsigned long long *o64, unsigned *o32, int n) {
    int t = threadIdx.x;
    if (t % 5) {
        int i = t;
        unsigned long long a = 0;
        unsigned b = 0;
#pragma ccc for reduction(+ : a)
        do {
#pragma ccc if
            if (i % 3 == 0) a += (unsigned long long)i << 33;
            i += 32;
        } while (i < n);
        i = t;
#pragma ccc for reduction(+ : b)
        do {
#pragma ccc if
            if (i % 7 == 0) b += i;
            i += 32;
        } while (i < n);
        o64[t] = a;
        o32[t] = b;
    }
    __syncthreads();
}
// options: strategy=queue
