// run: grid=1 block=32 args=s32:54 u64[8]=0 s32[65]~0:60
// What a turn adds to the state does not fit into 32 bits.
extern "C" __global__ void __launch_bounds__(32) k(int n, unsigned long long *sum,
                                                   const int *__restrict__ x) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        unsigned long long state = i, other = i;
#pragma ccc for variable
        for (int j = 0; j < x[i]; ++j) {
            state += 3000000019ull;
            other -= 1ull << 40;
            atomicAdd(&sum[j & 7], (state >> 3) ^ (other >> 5));
        }
    }
}
