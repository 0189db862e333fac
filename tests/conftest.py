"""What all tests share: the option ``--bless`` and the marker ``gpu``."""

from __future__ import annotations

import functools

import pytest

from ccc.device import gpu
from ccc.errors import CccError


@functools.cache
def no_gpu() -> str | None:
    """Why the tests marked ``gpu`` cannot run here; None when they can."""
    try:
        gpu.GpuDevice()
    except CccError as error:
        return error.message
    return None


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
