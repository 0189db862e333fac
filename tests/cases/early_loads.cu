// run: grid=2 block=64 args=f32[900]~0:1 f32[900]~0:1 f32[900]~0:1 u32[1]=0 s32:900
// Loads at the beginning of paths that most lanes take: one that neighbours make side by side, of
// which nothing but the value is needed; one backwards, of two elements; one that is not coalesced;
// and one whose address is needed later.
extern "C" __global__ void k(const float *__restrict__ x, const float2 *__restrict__ y, float *z,
                             unsigned *sum, int n) {
    for (int run = 0; run < 2; run++) {
#pragma ccc for
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
#pragma ccc if prob(0.75)
            if (i % 4 < 3) {
                float a = x[i];
                for (int turn = 0; turn < 5; turn++) a = a * a + 0.25f;
                if (a > 0.4f) atomicAdd(sum, 1);
            }
        }
    }
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
#pragma ccc if prob(0.5)
        if (i % 3) {
            float2 a = y[n / 2 - 1 - i];
            if (a.x > a.y * a.y * a.y) atomicAdd(sum, 2);
        }
    }
#pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
#pragma ccc if prob(0.75)
        if (i % 4 < 3) {
            float a = x[2 * i];
            if (a * a * a > 0.5f) atomicAdd(sum, 3);
        }
        else if (i % 8 < 6) {
            z[i] = z[i] * z[i] + 1.0f;
        }
    }
}
