// run: grid=1 block=64 args=u32[300]=0 s32:300
// A function writes its result to a variable of its caller, in the path.
__device__ __noinline__ bool f(unsigned i, unsigned *x) {
    *x = i * i + 3;
    return i & 1;
}
extern "C" __global__ void k(unsigned *out, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (i % 3 == 0) {
            unsigned x;
            if (f(i, &x))
                out[i] = x;
            else
                out[i] = ~x;
        }
    }
}
// options: strategy=queue
