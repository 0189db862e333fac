// run: grid=1 block=2 args=s32:40 u32[256]~0:100 u64[40]=7 u32[2]=0
// What a register of the context was made of has changed since, in an earlier iteration.
extern "C" __global__ void __launch_bounds__(2) k(int n, const unsigned *__restrict__ a, unsigned long long *__restrict__ z, unsigned *__restrict__ t) {
    unsigned c3 = (unsigned short)threadIdx.x;
    unsigned long long c4 = c3;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 2) {
#pragma ccc if
        if ((a[i] * 2654435761u >> 29) < 2u) {
            c3 += a[0];
            z[i] = c4;
        }
    }
    t[threadIdx.x] += c3;
}
// options: strategy=queue
