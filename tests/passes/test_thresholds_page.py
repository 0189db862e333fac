"""The page that tells what has to be expected to be chosen lists each number that is told."""

from __future__ import annotations

import re

import pytest
from folders import DOCS

from ccc.passes import thresholds

PAGE = (DOCS / "performance.md").read_text()
SECTION = PAGE.partition("\n## Reading the choice\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    "name",
    [
        "GAIN", "GAIN_OF_WARPS", "FEW_TURNS", "MEMORY_GAIN", "MUCH_MEMORY",
        "ADAPTIVE_GAIN", "SEVERAL_GAIN", "LOSS", "LOSS_OF_WARPS", "LOSS_OF_MEMORY",
    ],
)  # fmt: skip
def test_what_is_the_least_is_on_the_page(name: str) -> None:
    assert f" {getattr(thresholds, name):g} " in SECTION.replace("\n", " ").replace(",", " ")
    assert f"`{name}`" in SECTION


@pytest.mark.parametrize("name", ["ADAPTIVE_GAIN", "MELD_GAIN", "FLATTEN_GAIN"])
def test_what_is_named_has_its_number_beside_it(name: str) -> None:
    every = re.findall(rf"([\d.]+)\b[^|.;]*?\(`{name}`", " ".join(PAGE.split()))
    assert every
    assert set(every) == {f"{getattr(thresholds, name):g}"}
