import cupy
import numpy

SOURCE = r"""
extern "C" __global__ void __launch_bounds__(256) roots(float *x, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        #pragma ccc if strategy(queue)
        if (v > 0.5f) {
            for (int j = 0; j < 100; j++) v = 0.5f * (v + x[i] / v);
            x[i] = v;
        }
    }
}
"""
roots = cupy.RawModule(code=SOURCE, backend="nvcc").get_function("roots")
x = cupy.linspace(0, 4, 10_000, dtype=cupy.float32)
expected = cupy.where(x > 0.5, cupy.sqrt(x), x)
roots((64,), (256,), (x, numpy.int32(x.size)))
assert cupy.allclose(x, expected)
