"""Melding: the arms of a branch, or the cases of a switch, that resemble one another run as one."""

from __future__ import annotations

from ccc.passes.melding.melding import Melding

__all__ = ["Melding"]
