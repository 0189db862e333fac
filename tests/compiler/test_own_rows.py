"""Users are told where turns of one task change memory that it has for itself, nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from saying import said

from ccc.options import COLLECT, Options

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_headers")]

KERNEL = """__global__ void NAME(const int *__restrict__ row, const int *__restrict__ kind,
                     const float *__restrict__ w, float *h, float *y, int n) {
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float *mine = y + 64 * thread;
#pragma ccc for
    for (int v = thread; v < n; v += gridDim.x * blockDim.x) {
        const int first = row[v], end = row[v + 1], c = kind[v];
#pragma ccc for variable strategy(engage)
        for (int e = first; e < end; ++e) {
            CHANGE
        }
    }
}
"""
READ, AGAIN = "what is read", "what comes again in other turns"
TOLD = {
    "by_a_key": ("h[v * 4 + kind[e]] += w[e];", "h", READ),
    "by_some_bits": ("h[v * 4 + (e & 3)] += w[e];", "h", AGAIN),
    "by_a_remainder": ("h[v * 5 + (e - first) % 5] += w[e];", "h", AGAIN),
    "halved": ("float s = h[v * 4 + kind[e]]; h[v * 4 + kind[e]] = s / 2 + w[e];", "h", READ),
    "where_a_row_begins": ("h[first + kind[e]] += w[e];", "h", READ),
    "in_a_row_that_was_read": ("h[c * 16 + kind[e]] += w[e];", "h", READ),
    "in_a_branch": ("if (w[e] > 0.5f) h[v * 4 + kind[e]] += w[e];", "h", READ),
    "column": ("h[kind[e] * n + v] += w[e];", "h", READ),
}
TOLD.update({f"of_{n}": (f"h[v * {n} + (e & {n - 1})] += w[e];", "h", AGAIN) for n in (8, 16, 32)})
TOLD["of_eight_from_the_first"] = ("h[v * 8 + (e - first & 7)] += w[e];", "h", AGAIN)
PROBED = "int s = kind[e] & 3; while (h[v * 4 + s] > 0) s = s + 1 & 3; h[v * 4 + s] = w[e];"
TOLD["by_probing"] = (PROBED, "h", READ)
OTHER = {
    "of_the_turn": "h[e] += w[e];",
    "from_where_a_row_begins": "h[row[v] + e - first] += w[e];",
    "of_a_wide_row": "h[v * n + e] += w[e];",
    "beside_what_is_read": "h[v * 4 + e + kind[e]] += w[e];",
    "of_all_tasks": "h[kind[e]] += w[e];",
    "of_all_tasks_and_turns": "h[e & 63] += w[e];",
    "in_rows_that_were_read": "h[kind[e] + v] += w[e];",
    "atomic": "atomicAdd(&h[v * 4 + kind[e]], w[e]);",
    "only_written": "h[v * 4 + kind[e]] = w[e];",
    "beside_what_is_of_the_turn": "h[v * n + e] = h[v * n + e + 1];",
    "several_of_each_turn": "for (int k = 0; k < 3; ++k) h[3 * e + k] += w[e + k];",
}


def test_who_changes_in_turns_what_is_the_tasks_own_is_told(tmp_path: Path) -> None:
    every = {**{name: code for name, (code, *_) in TOLD.items()}, **OTHER}
    source = "".join(
        KERNEL.replace("NAME", name).replace("CHANGE", code) for name, code in every.items()
    )
    lines = said(source, tmp_path, Options())
    told = [line for line in lines if "turns of one task" in line]
    assert [line.rpartition("[in ")[2] for line in told] == [f"{one}]" for one in TOLD]
    for line, (code, variable, made) in zip(told, TOLD.values(), strict=True):
        place = source[: source.index(code)].count("\n") + 1
        assert re.sub(r"PTX line \d+: .*?;\), ", "", line).rpartition(" [in")[0] == (
            f"k.cu:{place - 2}:1: remark: path may lose what it writes: it changes what lies at an "
            f"address made from what all turns of a task have and from {made} "
            f'("{variable}", k.cu:{place}, and turns of one task may run at the same time; use an '
            "atomic operation where two of them may come to one place, or mark the loop "
            '"ccc while", whose turns may depend on one another'
        )


def test_as_a_loop_whose_turns_follow_one_another_nothing_is_told(tmp_path: Path) -> None:
    code = TOLD["by_a_key"][0]
    source = KERNEL.replace("NAME", "k").replace("CHANGE", code)
    source = source.replace("for variable strategy(engage)", "while")
    assert not any("may lose" in one for one in said(source, tmp_path, Options(strategy=COLLECT)))


@pytest.mark.parametrize(
    "code",
    [
        "h[v * 4 + kind[e]] = h[v * 4 + kind[e + 1]] + w[e] * h[v * 4 + kind[e]];",
        "h[v * 4 + kind[e + 1]] = h[v * 4 + kind[e]] + w[e];",
        "h[v * 4 + (e + 1 & 3)] = h[v * 4 + (e & 3)] + w[e];",
    ],
)
def test_where_one_place_is_made_of_another_only_the_order_of_turns_helps(
    code: str, tmp_path: Path
) -> None:
    source = KERNEL.replace("NAME", "k").replace("CHANGE", code)
    (line,) = (one for one in said(source, tmp_path, Options()) if "turns of one task" in one)
    assert 'at the same time; mark the loop "ccc while", whose turns' in line


def test_a_path_inside_whose_tasks_are_of_several_turns_is_told_of_the_loop(tmp_path: Path) -> None:
    code = """float s = w[e];
#pragma ccc if
            if (s > 0.2f) {
                for (int k = 0; k < 30; ++k) s = sqrtf(s + k);
                h[v * 4 + kind[e]] += s;
            }"""
    source = KERNEL.replace("NAME", "k").replace("CHANGE", code).replace(" strategy(engage)", "")
    lines = said(source, tmp_path, Options(strategy=COLLECT))
    told = [one for one in lines if one.startswith("k.cu:11:1: remark: path may lose")]
    assert len(told) == 1
    assert 'or mark the loop around it "ccc while", whose turns' in told[0]


RECURRENCES = {
    "sum_so_far": "h[e + 1] = h[e] + w[e];",
    "of_the_last_but_one": "h[e + 2] = 0.5f * h[e] + w[e];",
    "in_a_row": "h[v * 64 + e - first + 1] = h[v * 64 + e - first] + w[e];",
    "but_for_the_first": "h[e] = (e > first ? h[e - 1] : 0) + w[e];",
}
NO_RECURRENCES = {
    "not_written_yet": "h[e] = h[e + 1] + w[e];",
    "every_other": "if (e & 1) h[e] = h[e + 1] - w[e];",
    "in_pairs": "h[2 * e + 2] = h[2 * e + 1] + w[e];",
    "of_other_memory": "h[e + 1] = y[e] + w[e];",
    "of_the_row_before": "h[v * n + n + e] = h[v * n + e] + w[e];",
    "of_a_key": "h[kind[e] + 1] = h[kind[e]] + w[e];",
    "of_the_task_before": "h[64 * v + e - first] = h[64 * v - 1] + w[e];",
    "of_every_other": "if (e & 1) h[e + 1] = h[e] + w[e];",
}


def test_who_reads_in_a_turn_what_the_one_before_has_written_is_told(tmp_path: Path) -> None:
    every = {**RECURRENCES, **NO_RECURRENCES}
    source = "".join(
        KERNEL.replace("NAME", name).replace("CHANGE", code) for name, code in every.items()
    )
    lines = said(source, tmp_path, Options())
    told = [line for line in lines if "may lose" in line]
    assert [line.rpartition("[in ")[2] for line in told] == [f"{one}]" for one in RECURRENCES]
    for line in told:
        assert 'from what counts its turns ("h", k.cu:' in line, line
        assert "), and a later one reads there (k.cu:" in line, line
        assert '; mark the loop "ccc while", whose turns may depend on one another [in' in line
