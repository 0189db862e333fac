// run: grid=1 block=64 args=f32[900]~0:1 f32[900]=0 s32:900
// What the path sets in some iterations is read in others: a value that is carried, although the
// variable has none when the loop begins.
extern "C" __global__ void k(const float *__restrict__ x, float *y, int n) {
    float last;
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
#pragma ccc if
        if (i < 64 || x[i] < 0.4f) {
            last = x[i];
            for (int turn = 0; turn < i % 5; turn++) last = last * last + x[i];
        }
        y[i] = last;
    }
}
