// run: grid=1 block=100 args=s32[500]~0:9 s32[500]~0:40 s32[61]~0:24 f32[960]~-1:1 f32[500]=0 s32:180
// A sum over poles in a walk over the nuclides of a material: the walk goes on with the sum.
extern "C" __global__ void __launch_bounds__(128)
k(const int *count, const int *first, const int *__restrict__ poles, const float *__restrict__ value,
  float *total, int n) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += 100) {
        float sum = 0, energy = 0.25f * (i & 7);
        int left = count[i], at = first[i];
#pragma ccc while
        while (left > 0) {
            float own = 0;
            const int end = poles[at];
#pragma ccc while
            for (int pole = 0; pole < end; pole++)
                own += value[40 * (at % 24) + pole] / (energy + 0.5f + pole);
            sum += own * (1.0f + left);
            at = at * 5 % 61;
            left--;
        }
        total[i] = sum;
    }
}
// options: strategy=merge
