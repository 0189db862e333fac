"""Structures as arguments of a launch: where their members lie, and what they point to."""

from __future__ import annotations

import numpy as np
import pytest

from ccc.emulator import AddressOf, EmulatorError, Module, Structure


@pytest.mark.parametrize(
    ("structure", "offsets", "size"),
    [
        (Structure(np.int8(1), None, np.int16(2)), [0, 8, 16], 24),
        (Structure(np.float32(1), np.float32(2), np.float32(3)), [0, 4, 8], 12),
        (Structure(np.int8(1), Structure(np.int8(2), np.int32(3)), np.int8(4)), [0, 4, 12], 16),
        (Structure(np.int32(1), np.complex64(2)), [0, 8], 16),
    ],
)
def test_members_lie_as_in_cuda(structure: Structure, offsets: list[int], size: int) -> None:
    assert (structure.offsets, structure.bytes) == (offsets, size)


LIST = """
.version 9.0
.target sm_90
.address_size 64
.visible .entry sum(.param .u64 first, .param .u64 out)
{
    .reg .b64 %node, %out; .reg .b32 %value, %sum; .reg .pred %none;
    ld.param.u64 %node, [first];
    ld.param.u64 %out, [out];
    mov.b32 %sum, 0;
next:
    setp.eq.u64 %none, %node, 0;
    @%none bra done;
    ld.global.u32 %value, [%node+8];
    add.u32 %sum, %sum, %value;
    st.global.u32 [%node+8], %sum;
    ld.global.u64 %node, [%node];
    bra next;
done:
    st.global.u32 [%out], %sum;
    ret;
}
"""


def test_a_linked_list() -> None:
    last = AddressOf(Structure(None, np.int32(3)))
    middle = AddressOf(Structure(last, np.int32(20)))
    first = AddressOf(Structure(middle, np.int32(100)))
    out = np.zeros(1, np.int32)
    Module(LIST).get_function("sum")((1,), (1,), (first, out))
    assert out[0] == 123
    sums = [node.memory.view(np.int32)[2] for node in (first, middle, last)]
    assert sums == [100, 120, 123]


def test_what_is_no_member() -> None:
    with pytest.raises(EmulatorError, match="a member of type int has no size"):
        Structure(5)
    with pytest.raises(EmulatorError, match="at least one member"):
        Structure()


def test_an_array_with_gaps_in_a_structure() -> None:
    arguments = Structure(np.zeros(4, np.int32)[::2]), np.zeros(1, np.int32)
    with pytest.raises(EmulatorError, match="argument 1 is not C-contiguous"):
        Module(LIST).get_function("sum")((1,), (1,), arguments)
