"""What only one file knows keeps its name, however often the file is compiled."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_code import device_code

from ccc.compiler.names_of_file import as_in
from ccc.compiler.said import DevicePass
from ccc.compiler.unit import translate
from ccc.errors import CccError
from ccc.frontend.marking import Annotated
from ccc.options import COLLECT, Options
from ccc.parse import parse_module
from ccc.toolkit import find as toolchain


def module(process: int | str, first: int = 0) -> str:
    of = f"76415de6_4_a_cu_b01e98e1_{process}"
    space, own = f"_GLOBAL__N__{of}", f"_INTERNAL_{of}"
    kernel = f"_ZN{len(space)}{space}1kEPi"
    variable = f"_ZN{len(own)}{own}{len(space)}{space}1vE"
    within = f"_ZN2a1{len(space)}{space}1kEPi"  # a namespace whose name ends in a digit
    of_type = f"_Z4kernIN{len(space)}{space}1FEEvPiT_"
    static = f"__nv_static_{len(of) + 1}__{of}__Z1kPi"
    names = (kernel, within, of_type, static)
    functions = (f".entry {name}(.param .u64 {name}_param_0)" for name in names)
    kinds = [f".global .u32 {variable};", *functions]
    return "\n".join([*kinds[first:], *kinds[:first]])


@pytest.mark.parametrize("process", [7, 1327, 99999])
@pytest.mark.parametrize("first", range(5))
def test_the_number_of_a_process_does_not_matter(process: int, first: int) -> None:
    """Whichever name stands first, and where in it the file."""
    assert as_in(module(1328, first), module(process, first)) == module(1328, first)


def test_who_has_no_such_names_stays_as_it_is() -> None:
    plain = ".entry k()"
    assert as_in(module(1), plain) == plain
    assert as_in(plain, module(1)) == module(1)


UNNAMED = """namespace {
__global__ void k(const float *__restrict__ x, float *y, int n) {
    #pragma ccc for
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float s = x[i];
        #pragma ccc if
        if (s > 0.5f) for (int k = 0; k < 100; ++k) s = s * s + x[k];
        #pragma ccc if
        if (s > 0.5f) return;
        y[i] = s;
    }
}
void *used = (void *)k;
}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("few_headers")
def test_a_kernel_in_an_unnamed_namespace_has_one_name(tmp_path: Path) -> None:
    """Also where it is compiled again for what is refused."""
    try:
        toolchain.find()
    except CccError as error:
        pytest.skip(error.message)
    made: list[str] = []

    def compile_(source: str, _: bool) -> str:
        (tmp_path / "k.cu").write_text(source)
        made.append(device_code(tmp_path / "k.cu", "-w", "-arch=sm_90"))
        return made[-1]

    done = DevicePass()
    ptx = translate(Annotated(UNNAMED, "k.cu"), compile_, Options(strategy=COLLECT), done)
    names = [{one.name for one in parse_module(text).functions} for text in made]
    assert len(made) > 1
    assert names[0] <= {one.name for one in parse_module(ptx).functions}
    assert len(done.remarks) == 1
