// run: grid=1 block=64 args=u32[64]=0 s32:6
// The source has two calls, of which nvcc makes a loop of the second.
#pragma ccc recursion
__device__ __noinline__ void split(unsigned *a, int low, int high) {
    if (low >= high) return;
    int middle = (low + high) / 2;
    a[middle] += high - low;
    split(a, low, middle);
    split(a, middle + 1, high);
}
extern "C" __global__ void k(unsigned *a, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 64) split(a + 8 * i, 0, 7);
}
