"""Running a program for which we stand: its status is ours, and it gets the signals that we get."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType
    from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Process:
    """A program that runs.

    A signal that is to stop us goes to all that was started, and we end when that has ended.
    """

    def __init__(
        self, command: list[str], environment: Mapping[str, str], errors: int | None = None
    ):
        """Start it.

        Args:
            command: its words; the first is a path.
            environment: its variables.
            errors: the descriptor that takes what it says of errors, if not ours.

        Raises:
            OSError: it cannot be started.
        """
        self._stopped: list[int] = []
        self._before = _heed(self._pass_on)
        try:
            actions = [] if errors is None else [(os.POSIX_SPAWN_DUP2, errors, 2)]
            self._id = os.posix_spawn(command[0], command, environment, file_actions=actions)
        except BaseException:
            self._heed_as_before()
            raise
        for number in self._stopped:
            _kill(self._id, number)  # it came before there was anybody to be told

    def wait(self) -> int:
        """Wait until it ends; the status that a shell would give."""
        try:
            code = os.waitstatus_to_exitcode(os.waitpid(self._id, 0)[1])
        finally:
            self._heed_as_before()
        if self._stopped:
            return 128 + self._stopped[0]
        return code if code >= 0 else 128 - code

    def kill(self) -> None:
        """End it: nobody needs what it makes."""
        _kill(self._id, signal.SIGKILL)
        self.wait()

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        self._stopped.append(number)
        for process in _descendants(os.getpid()):
            _kill(process, number)

    def _heed_as_before(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def end_tidily() -> None:
    """Let signals that would end us at once do so that nothing of ours stays behind."""
    for number in STOPPING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise SystemExit(128 + number)


def run(command: list[str], environment: Mapping[str, str], errors: int | None = None) -> int:
    """Run a program to its end: arguments and errors as of :class:`Process`; its status."""
    return Process(command, environment, errors).wait()


def _heed(handler: Callable[[int, FrameType | None], None]) -> dict[int, Any]:
    """Handle the signals that are to stop us, unless they are ignored; the former handlers."""
    before: dict[int, Any] = {}
    for number in STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:
            try:
                before[number] = signal.signal(number, handler)
            except ValueError:
                return {}  # only the main thread gets signals
    return before


def _kill(process: int, number: int) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return  # it has ended meanwhile


def _descendants(process: int) -> list[int]:
    """All processes that this one started, and those started, which are alive."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:
                continue  # it has ended meanwhile
            children.setdefault(parent, []).append(int(name))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found[1:]
