// run: grid=1 block=32 args=s32:325 u32[256]~0:4294967295 u32[32]=0
// Tasks of one lane stand apart in the joined list, with those of others between them: other lanes
// run the path around them.
extern "C" __global__ void __launch_bounds__(32)
k(int n, const unsigned *__restrict__ a, unsigned *__restrict__ t)
{
    unsigned sum = 0;
#pragma ccc for reduction(^: sum)
    for (int i = threadIdx.x; i < n; i += 32) {
        const unsigned v = a[(i * 5u) & 255];
#pragma ccc if strategy(queue)
        if (v % 7u == 3) {
            unsigned left = (a[(i * 3) & 255] >> 5) % (v % 11 == 3 ? 4000 : 40);
            asm("" : "+r"(left));
#pragma ccc for variable strategy(engage)
            for (; left >= 5; left -= 5) sum ^= left * left;
        }
    }
    t[threadIdx.x] = sum;
}
