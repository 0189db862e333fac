"""The real tool for which a shim stands, run on another text than that which nvcc gave it."""

from __future__ import annotations

import os

from ccc.folder import make_folder, remove_folder
from ccc.nvcc.process import Process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def input_of(arguments: Sequence[str]) -> str:
    """The preprocessed text that a tool is to read."""
    return next(word for word in reversed(arguments) if word.endswith(".ii"))


class ToolRun:
    """A tool that runs on ``text`` in place of its input, which is not touched: it may be kept.

    It begins at once. Behind a ``with`` it has ended, and its files are gone.
    """

    def __init__(self, tool: str, arguments: Sequence[str], text: bytes, output: str | None = None):
        """Start it.

        Args:
            tool: the program.
            arguments: as nvcc gave them.
            text: what it is to read.
            output: the name of the file that it makes, if that is not to be where nvcc wants it.
        """
        given = input_of(arguments)
        self._folder = make_folder()
        self._process: Process | None = None
        words = [self._path(given) if word == given else word for word in arguments]
        self.output = self._path(output) if output else ""
        if self.output:
            words[words.index("-o") + 1] = self.output
        try:
            with open(self._path(given), "wb") as file:
                file.write(text)
            with open(self._path("said"), "wb") as said:
                self._process = Process([tool, *words], os.environ, said.fileno())
        except BaseException:
            remove_folder(self._folder)
            raise

    def wait(self) -> tuple[int, bytes]:
        """Its status when it has ended, and what it said of errors."""
        process, self._process = self._process, None
        code = process.wait() if process else 0
        with open(self._path("said"), "rb") as file:
            return code, file.read()

    def __enter__(self) -> ToolRun:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
        remove_folder(self._folder)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, os.path.basename(name))
