// run: grid=2 block=64 args=s32:300 s32[301]~0:40 s32[300]~-2:24 s32[64]~0:9 s32[300]=0 s32[1]=0
// options: strategy=bins(8)
// The loop counts down and may end before, the rest of the iteration needs what it made, and all
// tasks add up.
extern "C" __global__ void k(int n, const int *begins, const int *lengths,
                             const int *__restrict__ x, int *y, int *total) {
    int found = 0;
#pragma ccc for reduction(+: found)
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) {
        int sum = begins[i];
#pragma ccc if
        if (sum & 1) {
            for (int left = lengths[i]; left > 0; left -= 2) {
                sum += x[sum & 63] * left;
                if (sum > 900) break;
                ++found;
            }
        }
        y[i] = sum;
    }
    atomicAdd(total, found);
}
