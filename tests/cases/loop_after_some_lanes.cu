// run: grid=1 block=32 args=u32[640]=0 u32[32]=0 s32:256
// Some lanes run a first loop; the others go on to the second, clear its slots of the reduction,
// which lie where the first loop's tasks are saved.
extern "C" __global__ void __launch_bounds__(32) k(unsigned *out, unsigned *o, int n) {
    int t = threadIdx.x;
    if (t % 5) {
        int i = t;
        unsigned b = 0;
        if (t & 1) {
#pragma ccc for
            do {
#pragma ccc if
                if (i % 3 == 0) out[i] = i;
                i += 32;
            } while (i < n);
        }
        i = t;
#pragma ccc for reduction(+ : b)
        do {
#pragma ccc if
            if (i % 7 == 0) b += i;
            i += 32;
        } while (i < n);
        o[t] = b;
    }
    __syncthreads();
}
// options: strategy=queue
