"""What users are told of variables without a value, which one lane may set for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

RESERVED = """__global__ void k(const int *x, int n, int *count, int *out) {
    int lane = threadIdx.x & 31;
    BEFORE
#pragma ccc for
    for (int first = 0; first < n; first += 32) {
        int v = x[first + lane];
        INSIDE
        unsigned all = __ballot_sync(0xffffffffu, v > 3);
        ABOVE
#pragma ccc if
        if (v > 3) {
            for (int j = 0; j < v; ++j) v = v * 5 + 1;
            PATH
            out[base + __popc(all & ((1u << lane) - 1))] = v;
        }
        BEHIND
    }
}
"""
RESERVE = "if (lane == leader) base = atomicAdd(count, __popc(all));"
HAND_ON = "base = __shfl_sync(0xffffffffu, base, leader);"


def told(folder: Path, **parts: str) -> list[str]:
    source = RESERVED
    for name in ("before", "inside", "above", "path", "behind"):
        source = source.replace(name.upper(), parts.get(name, ""))
    return said(source, folder, Options(strategy=COLLECT))


@pytest.mark.parametrize("leader", ["0", "__ffs(all) - 1", "all ? __ffs(all) - 1 : 0"])
@pytest.mark.parametrize("where", ["before", "inside"])
@pytest.mark.parametrize("value", ["", " = 0"])
def test_what_one_lane_sets_and_hands_on_is_in_nobodys_way(
    leader: str, where: str, value: str, tmp_path: Path
) -> None:
    above = f"int leader = {leader}; {RESERVE} {HAND_ON}"
    assert told(tmp_path, above=above, **{where: f"int base{value};"}) == []


@pytest.mark.parametrize("value", ["", " = 0"])
@pytest.mark.parametrize(
    "parts",
    [
        {"path": RESERVE, "behind": f"{HAND_ON} out[first + lane] = base;"},
        {"behind": f"{RESERVE} {HAND_ON} out[base + lane] = v;"},
    ],
)
def test_what_is_handed_on_behind_a_path_is_told_of_the_meeting(
    parts: dict[str, str], value: str, tmp_path: Path
) -> None:
    """And not to be declared in the loop, where it is: a value changes nothing."""
    inside = f"int leader = 0; int base{value};"
    (line,) = told(tmp_path, inside=inside, **parts)
    assert "a warp-collective would have to run with its tasks (k.cu:" in line
    assert "shfl.sync" in line
    assert "declare" not in line


@pytest.mark.parametrize("value", ["", " = 0"])
def test_what_is_declared_before_the_loop_may_be_declared_in_it(value: str, tmp_path: Path) -> None:
    behind = f"{RESERVE} {HAND_ON} out[base + lane] = v;"
    (line,) = told(tmp_path, before=f"int leader = 0, base{value};", behind=behind)
    assert "else declare in the loop what no iteration needs of another [in k]" in line
