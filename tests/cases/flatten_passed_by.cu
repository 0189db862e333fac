// run: grid=2 block=(16,6) args=u32[400]=0 s32[401]~-9:5 s32:400
// Many iterations have no turn at all, and what the rest makes is carried on.
extern "C" __global__ void k(unsigned *out, const int *count, int n) {
    int first = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int stride = gridDim.x * blockDim.x * blockDim.y;
    unsigned carried = first;
    for (int i = first; i < n; i += stride) {
#pragma ccc for variable strategy(flatten)
        for (int e = 0; e < count[i]; ++e) carried = carried * 31 + e;
        out[i] = carried ^ i;
    }
}
