"""Progress of a bench on standard error: where it is, and how long it will take yet."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Steps:
    """A bar over the steps of all samples.

    Args:
        planned: how many steps each sample will about take, by name. When a sample ends, the bar
            stands where it was planned to, so that a wrong guess does no harm for long.
    """

    def __init__(self, planned: dict[str, int]):
        self._planned = planned
        self._console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            speed_estimate_period=3600,
        )
        self._bar = self._progress.add_task("", total=sum(planned.values()))
        self._sample = ""

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        """Show the bar, on a terminal only."""
        if not self._console.is_terminal:
            yield
            return
        with self._progress:
            yield

    @contextlib.contextmanager
    def sample(self, name: str) -> Iterator[None]:
        """A sample is measured meanwhile."""
        before = self._progress.tasks[0].completed
        self._sample = name
        try:
            yield
        finally:
            self._progress.update(self._bar, completed=before + self._planned[name])

    @contextlib.contextmanager
    def step(self, text: str) -> Iterator[None]:
        """One step of the sample."""
        self._progress.update(self._bar, description=f"{self._sample}: {text}")
        yield
        self._progress.advance(self._bar)

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
