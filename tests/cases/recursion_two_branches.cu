// run: grid=2 block=64 args=s32:200 u32[200]~0:200 s32[200]=0
// nvcc: -Xcicc -O0
// Calls in two branches, either of them the last thing that is done, and early returns.
#pragma ccc recursion
__device__ int search(const unsigned *x, int low, int high, unsigned wanted) {
    if (low >= high) return -1;
    int middle = (low + high) / 2;
    unsigned found = x[middle] + 4 * middle;
    if (found == wanted) return middle;
    if (found < wanted) return search(x, middle + 1, high, wanted);
    return search(x, low, middle, wanted);
}
extern "C" __global__ void k(int n, const unsigned *x, int *y) {
#pragma ccc for
    for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = search(x, 0, n, x[i] + 4 * i);
}
