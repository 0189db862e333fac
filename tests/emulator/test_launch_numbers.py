"""Launches of one module have numbers, those that failed, too."""

from __future__ import annotations

import numpy as np
import pytest

from ccc.emulator import EmulatorError, Module

PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, %gridid;
    st.global.u64 [%rd1], %rd2;
    ret;
}
"""


@pytest.mark.parametrize("runner", ["numpy", "native"])
def test_a_launch_after_one_that_failed_is_another(
    runner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCC_EMULATOR", runner)
    kernel = Module(PTX).get_function("k")
    found = np.full(1, 7, np.uint64)
    kernel((1,), (1,), (found,))
    assert found[0] == 0
    with pytest.raises(EmulatorError):
        kernel((1,), (1,), (np.zeros(0, np.uint64),))
    kernel((1,), (1,), (found,))
    assert found[0] == 2
