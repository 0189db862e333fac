"""What all tests share: the option ``--bless`` and the marker ``gpu``."""

from __future__ import annotations

import functools
import importlib

import pytest


@functools.cache
def no_gpu() -> str | None:
    """Why the tests marked ``gpu`` cannot run here; None when they can."""
    try:
        cupy = importlib.import_module("cupy")
    except ImportError as error:
        return f"CuPy is not installed ({error})"
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except Exception as error:  # CuPy has no common class for a missing or an unfit driver
        return f"CuPy finds no CUDA device ({error})"
    return None if count else "CuPy finds no CUDA device"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless",
        action="store_true",
        help="rewrite the expected halves of the golden tests instead of comparing them",
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu"):
        reason = no_gpu()
        if reason:
            pytest.skip(reason)


@pytest.fixture(scope="session")
def bless(pytestconfig: pytest.Config) -> bool:
    """Whether golden tests write what they get instead of comparing it."""
    return bool(pytestconfig.getoption("--bless"))
