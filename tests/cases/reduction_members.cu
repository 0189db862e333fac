// run: grid=1 block=64 args=f32[64]=0 u32[64]=0 f32[300]~0:4 s32:300
// Members of a structure that tasks update: a sum, a flag that is set, and one that is cleared.
struct Found { float sum; bool any, all; };
extern "C" __global__ void k(float *o, unsigned *f, const float *__restrict__ x, int n) {
    Found found = {0, false, true};
#pragma ccc for reduction(+: found.sum) reduction(|: found.any) reduction(&: found.all)
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = x[i];
#pragma ccc if
        if (v > 2) {
            for (int k = 0; k < 6; k++) v = v * 0.5f + 2;
            found.sum += floorf(v * 1024);
            if (v > 3.999f) found.any = true;
            found.all = found.all && v < 4.001f;
        }
    }
    o[threadIdx.x] = found.sum;
    f[threadIdx.x] = 2 * found.any + found.all;
}
