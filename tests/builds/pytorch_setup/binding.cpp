#include <torch/extension.h>

#include "roots.h"

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
    module.def("find_roots", [](torch::Tensor x) { find_roots(x.data_ptr<float>(), x.numel()); });
}
