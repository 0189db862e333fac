"""``ccc profile merge``: the profiles of several runs, or of several programs, as one."""

from __future__ import annotations

import argparse
import pathlib

from ccc import profile
from ccc.errors import CccError, Span

MIXED = "this profile is of transformed code, and others of these files are of the original"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ccc profile``."""
    parser.usage = "ccc profile [-h] merge FILE [FILE ...] -o FILE"
    parser.add_argument(
        "action", type=_action, metavar="merge",
        help="add up what several runs counted, of the same code or of other code",
    )  # fmt: skip
    parser.add_argument(
        "profiles", type=pathlib.Path, nargs="+", metavar="FILE", help="written by such a program"
    )
    parser.add_argument(
        "-o", "--output", type=pathlib.Path, required=True, metavar="FILE", help="what to write"
    )


def _action(word: str) -> str:
    if word != "merge":
        told = f'there is no action "{word}"'
        raise argparse.ArgumentTypeError(f"{told}; ccc report FILE prints a profile")
    return word


def run(args: argparse.Namespace) -> int:
    """Run ``ccc profile``.

    Raises:
        CccError: a file is no profile, or only some of them are of transformed code, or the result
            cannot be written.
        OSError: one cannot be read.
    """
    profiles = [profile.read(file) for file in args.profiles]
    pairs = zip(args.profiles, profiles, strict=True)
    transformed = [file for file, one in pairs if one.is_transformed]
    if 0 < len(transformed) < len(profiles):
        raise CccError(MIXED, Span(str(transformed[0])))
    profile.merge(profiles).write(args.output)
    return 0
