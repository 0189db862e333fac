// run: grid=1 block=64 args=s32:90 s32[90]~0:5 s32[400]~0:7 u32[450]=0 u32[64]=0
// Three loops in a row in the turns of a fourth, the last of them with a branch inside that is
// collected, too, and a sum that all of them add to.
extern "C" __global__ void __launch_bounds__(64) k(
    int n, const int *__restrict__ turns, const int *__restrict__ x,
    unsigned *__restrict__ y, unsigned *__restrict__ sums) {
    unsigned sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc for variable
        for (int j = 0; j < turns[i]; ++j) {
            unsigned value = i;
#pragma ccc while
            for (int left = x[i + j]; left > 0; --left) { value = value * 3 + left; sum += left; }
            if (value & 1) {
#pragma ccc while
                for (int left = x[i + 2 * j]; left > 0; --left) value = value * 5 + left;
                sum += value & 3;
            }
#pragma ccc for variable
            for (int e = 0; e < x[i + 3 * j]; ++e) {
                value += e;
#pragma ccc if
                if (x[i + e] > 3) sum += value * value % 7;
            }
            y[5 * i + j] = value;
        }
    }
    sums[threadIdx.x] = sum;
}
// options: strategy=merge
