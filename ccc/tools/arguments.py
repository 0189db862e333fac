"""What stands on the command lines of several tools, read for argparse."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from ccc.ptx.architecture import capability

_DIGITS = 18
"""No number of more is wanted anywhere."""


def number_from(least: int, most: int | None = None) -> Callable[[str], int]:
    """What reads a number, and says which ones it takes."""
    wanted = f"a number from {least} {'on' if most is None else f'to {most}'} is wanted"

    def read(text: str) -> int:
        is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS
        if not is_number or int(text) < least or (most is not None and int(text) > most):
            raise argparse.ArgumentTypeError(f'{wanted}, not "{text}"')
        return int(text)

    return read


natural, positive = number_from(0), number_from(1)


def architecture(text: str) -> str:
    """The name of an architecture, as nvcc takes it."""
    if not capability(text):
        raise argparse.ArgumentTypeError(f'an architecture such as sm_90 is wanted, not "{text}"')
    return text
