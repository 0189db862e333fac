"""Profiles of annotated code: reading what it counted; the code that counts is in instrument/."""

from ccc.profile.data import (
    COUNTERS,
    DESCRIPTOR,
    TABLE,
    Profile,
    by_annotation,
    merge,
    of,
    read,
    reset,
)
from ccc.profile.model import KernelProfile, PathProfile, add

__all__ = [
    "COUNTERS",
    "DESCRIPTOR",
    "TABLE",
    "KernelProfile",
    "PathProfile",
    "Profile",
    "add",
    "by_annotation",
    "merge",
    "of",
    "read",
    "reset",
]
