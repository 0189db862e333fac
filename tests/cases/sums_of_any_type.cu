// run: grid=1 block=64 args=f32[64]=0 f64[64]=0 s32[64]=0 f32[600]~-2:2 s32:600
// What is added up is declared by a template's parameter, by auto, by a name for a type, as a member
// of a vector and as one of the object itself, and in a function that may be a constant.
typedef float real;
struct Job {
    double sum;
    __device__ void run(const float *x, int n) {
#pragma ccc for reduction(+: sum)
        for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
            if (x[i] > 1.25f) {
                double v = x[i];
                for (int k = 0; k < 4; k++) v = rint(v * v - 1.5);
                sum += v;
            }
        }
    }
};
template <typename T> __device__ T total(const float *x, int n) {
    T sum = 0;
    auto most = real(-100);
    real least = 100;
    float2 pair = {0, 0};
#pragma ccc for reduction(+: sum, pair.x) reduction(max: most) reduction(min: least)
    for (int i = threadIdx.x; i < n; i += 64) {
#pragma ccc if
        if (x[i] > 0.5f) {
            float v = x[i];
            for (int k = 0; k < 4; k++) v = rintf(v * v - 1.5f);
            sum += T(v);
            pair.x += v;
            most = fmaxf(most, v);
            least = fminf(least, v);
        }
    }
    return sum + T(most) + T(least) + T(pair.x);
}
__host__ __device__ constexpr float rounded(const float *x, int first, int n) {
    float sum = 0;
#pragma ccc for reduction(+: sum)
    for (int i = first; i < n; i += 64) {
#pragma ccc if
        if (x[i] < -0.5f) {
            float v = x[i];
            for (int k = 0; k < 4; k++) v = float(int(v * v - 1.5f));
            sum += v;
        }
    }
    return sum;
}
extern "C" __global__ void __launch_bounds__(64) k(float *f, double *d, int *s, const float *x, int n) {
    Job job{1};
    job.run(x, n);
    int i = threadIdx.x;
    f[i] = total<float>(x, n) + rounded(x, i, n);
    d[i] = total<double>(x, n) + job.sum;
    s[i] = total<int>(x, n);
}
