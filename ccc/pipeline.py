"""What a pass is, and what it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, cast

from ccc.analysis.facts import Facts
from ccc.analysis.paths import Path
from ccc.ir.nodes import Function
from ccc.ptx.types import DEFAULT_SHARED_BYTES


@dataclass
class PathRecord:
    """What became of one annotated path; the report is made of these."""

    path: Path
    applied: bool = False
    reason: str | None = None
    details: dict[str, Any] = field(default_factory=dict)


@dataclass
class Kernel:
    """One function on its way through the pipeline.

    ``static_shared_bytes`` is what the module's shared variables take besides the function's own;
    ``max_block`` the largest block size the user vouches for, None if he did not say.
    """

    function: Function
    facts: Facts
    records: list[PathRecord]
    static_shared_bytes: int = 0
    shared_limit: int = DEFAULT_SHARED_BYTES
    max_block: int | None = None
    refinements: list[Callable[[Path, Facts], None]] = field(default_factory=list)
    """What passes have decided about paths; to be said again whenever the paths are found anew."""

    def changed(self) -> None:
        """Forget what was computed of the function, because a pass has changed it."""
        self.facts = Facts(self.function, self.facts.callees)


class Pass(ABC):
    """A transformation of one kernel: a frozen dataclass whose fields are its options."""

    name: ClassVar[str]
    """As the command line and the goldens spell it."""

    @abstractmethod
    def run(self, kernel: Kernel) -> None:
        """Change ``kernel`` and its records."""


def make_pass(kind: type[Pass], options: Mapping[str, Any]) -> Pass:
    """The pass with those of the options that it has."""
    names = {option.name for option in fields(cast("Any", kind))}
    return kind(**{name: value for name, value in options.items() if name in names})
