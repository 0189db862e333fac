// run: grid=9 block=128 args=s32[1101]~0:90 s32[1101]~0:60 s32[200]~0:150 u8[200]~1:9 s32[160]=0 s32:1100
// options: strategy=auto
// Each thread has one list, and nobody says how large blocks are: larger ones pass by.
#pragma ccc grid_stride
extern "C" __global__ void k(const int *__restrict__ start, const int *__restrict__ size, const int *__restrict__ word, const unsigned char *__restrict__ often, int *score, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int w = size[i], end = start[i] + (w >> (i & 7));
#pragma ccc for variable
    for (int j = start[i]; j < end; ++j) atomicAdd(&score[word[j]], w * often[j] / (often[j] + 2));
}
