// run: grid=3 block=64 args=s32[200]~0:40 s32[400]~-9:9 s32[200]=0 s32:150
// What a clause asks for applies to the second copy of a function, and not to the first.
__device__ __noinline__ void walk(const int *v, int *y, int i, int l, int n) {
#pragma ccc for variable strategy(sub_warp(8))
    for (int e = 0; e < l; ++e) atomicAdd(&y[(i + e) % n], v[i + e]);
}
#pragma ccc grid_stride
extern "C" __global__ void k(const int *len, const int *v, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    walk(v, y, i, len[i], n);
#pragma ccc for variable strategy(sub_warp(8))
    for (int e = 0; e < len[(i + 3) % n]; ++e) atomicAdd(&y[(i + e) % n], v[i + e]);
    walk(v, y, (i + 9) % n, len[i], n);
}
// options: strategy=auto
