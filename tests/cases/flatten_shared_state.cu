// run: grid=1 block=70 args=s64[70]=0 s32[70]~0:9 s32:59 f64[70]~0:1
// Predicates, wide registers, an array of the thread's own and volatile reads live across.
extern "C" __global__ void k(long long *out, const volatile int *count, int n, double *d) {
    int own = threadIdx.x, window[5];
    for (int w = 0; w < 5; ++w) window[w] = own * w;
    long long sum = own;
    double x = d[own];
    bool odd = own & 1;
    for (long long i = 0; i < 5 + (own & 1); ++i) {
        bool flip = sum & 2;
        long long turns = count[(int)((sum & 0xffff) % n)];
#pragma ccc while strategy(refill(2))
        for (long long t = turns; t > 0; --t) {
            sum = sum * 6364136223846793005LL + 1442695040888963407LL;
            x = x * 0.5 + (double)(sum >> 60);
            window[(unsigned)(sum >> 33) % 5] += t;
            if (flip) odd = !odd;
        }
        if (odd != flip) sum += window[i % 5];
    }
    out[own] = sum + odd;
    d[own] = x;
}
