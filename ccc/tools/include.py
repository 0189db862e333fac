"""``ccc include``: where ``cte.cuh`` is, for nvcc and for CMake."""

from __future__ import annotations

import argparse

from ccc import header


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``ccc include``."""
    parser.add_argument(
        "--cmake", action="store_true", help="of the CMake package instead: cmake -Dccc_DIR=..."
    )


def run(args: argparse.Namespace) -> int:
    """Run ``ccc include``."""
    print(header.cmake() if args.cmake else header.include())
    return 0
