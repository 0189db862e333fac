import cupy
from cuda.core import Device, LaunchConfig, ObjectCode, launch

device = Device()
device.set_current()
stream = device.create_stream()
with open("roots.ptx", "rb") as file:
    kernel = ObjectCode.from_ptx(file.read()).get_kernel("_Z5rootsPfi")
x = cupy.linspace(0, 4, 10_000, dtype=cupy.float32)
expected = cupy.where(x > 0.5, cupy.sqrt(x), x)
cupy.cuda.runtime.deviceSynchronize()
launch(stream, LaunchConfig(grid=64, block=256), kernel, x.data.ptr, x.size)
stream.sync()
assert cupy.allclose(x, expected)
