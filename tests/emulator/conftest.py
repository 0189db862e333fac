"""Tests of whole launches run on NumPy and in C."""

from __future__ import annotations

import pytest

BOTH = {"test_emulator_memory", "test_emulator_simt", "test_emulator_meetings"}
"""Files whose tests run on both; what single instructions compute is compared in test_native."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.module.__name__.split(".")[-1] in BOTH:
        metafunc.parametrize("runs_on", ["numpy", "native"], indirect=True)


@pytest.fixture(autouse=True)
def runs_on(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the emulator runs on in a test."""
    mode = getattr(request, "param", None)
    if mode:
        monkeypatch.setenv("CCC_EMULATOR", mode)
