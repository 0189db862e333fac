// run: grid=1 block=64 args=s32:200 u32[200]~0:37 f32[200]=0 u32[200]=0
// options: strategy=engage
// What begins as no number stays that, bit for bit, where a comparison or a maximum takes nothing.
extern "C" __global__ void __launch_bounds__(64)
k(int n, const unsigned *__restrict__ x, float *__restrict__ least,
  unsigned *__restrict__ most) {
#pragma ccc for
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float low = x[i] % 3 == 0 ? __int_as_float(0x7fffffff) : 1000.f;
        float high = __int_as_float(0x7fc12345);
#pragma ccc for variable reduction(min: low) reduction(max: high)
        for (unsigned j = 0; j < x[i]; ++j) {
            const float found = (float)((i * 5 + j * 11) % 97) - 50.f;
            if (found < low) low = found;
            if (j % 32 == 31) high = fmaxf(high, found);
        }
        least[i] = low;
        most[i] = __float_as_uint(high);
    }
}
