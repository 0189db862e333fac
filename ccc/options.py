"""What a command line asks of every part that it goes through."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any

_VARIABLE = "CCC_SETTINGS"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line asks of the shims; travels in one environment variable.

    ``folder`` is where each device pass leaves its :class:`Pass`; without it a pass speaks on
    stderr itself.
    """

    off: bool = False
    mark_only: bool = False
    measure: bool = False
    strict: bool = False
    max_block: int | None = None
    discipline: str | None = None
    dynamic_shared: int | None = None
    callee_shared: int | None = None
    multiprocessors: int | None = None
    print_after: tuple[str, ...] = ()
    profile: str | None = None
    folder: str | None = None

    @property
    def plain(self) -> bool:
        """Whether the code is what the compiler alone makes of it, annotations ignored."""
        return self.off and not self.profile

    def environment(self) -> dict[str, str]:
        """The variable that carries these settings."""
        return {_VARIABLE: json.dumps(asdict(self))}

    @staticmethod
    def received() -> Settings:
        """The settings of the surrounding command, or the default ones."""
        values = json.loads(os.environ.get(_VARIABLE, "{}"))
        values["print_after"] = tuple(values.get("print_after", ()))
        return Settings(**values)

    def transform_options(self) -> dict[str, Any]:
        """The options of ``ccc.compiler.transform``; its own defaults stand for unset ones.

        Not ``strict``: it would stop at the first path, and the user wants to see them all.
        """
        options: dict[str, Any] = {"print_after": self.print_after}
        shared = ("dynamic_shared", "callee_shared")
        for name in ("max_block", "discipline", *shared, "multiprocessors"):
            if (value := getattr(self, name)) is not None:
                options[name] = value
        if self.profile is not None:
            options |= {"profile": self.profile, "off": self.off}
        return options
