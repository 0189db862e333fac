// run: grid=1 block=32 args=s32:96 s32[96]=0 s64[32]=0
extern "C" __global__ void __launch_bounds__(32) k(int n, int *y, long long *spent) {
    long long sum = 0;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 32) {
        long long begin = clock64();
        int value = i;
#pragma ccc if
        if (i % 3 == 0) value = atomicAdd(&y[i], i * i);
        y[i] = value;
        sum += clock64() - begin;
    }
    spent[threadIdx.x] = sum > 0;
}
