import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/types.h>

__global__ void __launch_bounds__(256) roots(float *x, int n) {
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

void find_roots(torch::Tensor x) { roots<<<64, 256>>>(x.data_ptr<float>(), x.numel()); }
"""
roots = load_inline(
    "roots",
    cpp_sources="void find_roots(torch::Tensor x);",
    cuda_sources=CUDA,
    functions=["find_roots"],
    build_directory=".",
)
x = torch.linspace(0, 4, 10_000, device="cuda")
expected = torch.where(x > 0.5, x.sqrt(), x)
roots.find_roots(x)
assert torch.allclose(x, expected)
