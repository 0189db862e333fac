// run: grid=2 block=64 args=s32:128 f32[128]~0:1 s32[129]~0:24 s32[32]~0:31 f32[32]~0:1 s32[33]~0:40 f32[64]~-1:1 s32[128]=0
// options: strategy=bins(16)
// The shape of samples/integral_equation: of the boxes in its list, an observer adds up the sources
// of those that are near.
extern "C" __global__ void k(int n, const float *__restrict__ observers,
                             const int *__restrict__ first, const int *__restrict__ candidates,
                             const float *__restrict__ boxes, const int *__restrict__ begins,
                             const float *__restrict__ sources, int *fields) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float observer = observers[i];
    const int end = first[i] + 6;
#pragma ccc for
    for (int k = first[i]; k < end; ++k) {
        const int box = candidates[k];
#pragma ccc if
        if (fabsf(observer - boxes[box]) < 0.4f) {
            float wave = 0.0f;
            const int last = begins[box + 1];
            for (int s = begins[box]; s < last; ++s) {
                const float distance = observer - sources[s];
                wave += distance * rsqrtf(distance * distance + 0.1f);
            }
            atomicAdd(&fields[i], __float2int_rn(wave * 4096.0f));
        }
    }
}
