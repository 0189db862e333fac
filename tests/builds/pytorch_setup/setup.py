from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="torch_roots",
    ext_modules=[CUDAExtension("torch_roots", ["binding.cpp", "roots.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
