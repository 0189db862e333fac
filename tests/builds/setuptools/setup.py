import os
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FLAGS = ["-O3", "-arch=sm_90", "--ccc-strict", "--ccc-report=reports/", "-Xcompiler", "-fPIC"]


class BuildWithCccc(build_ext):
    def build_extension(self, extension):
        output = self.get_ext_fullpath(extension.name)
        self.mkpath(os.path.dirname(output))
        subprocess.run(["cccc", *FLAGS, "-shared", *extension.sources, "-o", output], check=True)


setup(
    name="roots",
    ext_modules=[Extension("libroots", ["roots.cu"])],
    cmdclass={"build_ext": BuildWithCccc},
)
