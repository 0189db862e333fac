"""What nvcc starts in place of ``cicc``.

It gets the preprocessed device code. As soon as that is marked the real ``cicc`` begins to compile
it; what makes something of its PTX (``device_pass.py``) takes about as long to load as a small
kernel to compile, and is loaded meanwhile.
"""

from __future__ import annotations

import io
import sys
from contextlib import suppress
from functools import cached_property

from ccc.errors import CccError
from ccc.files import read_text
from ccc.frontend.marking import Annotated
from ccc.nvcc import host
from ccc.nvcc.process import end_tidily
from ccc.nvcc.tool import ToolRun, input_of
from ccc.options import Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LINES = "-generate-line-info"
"""The option for a table of lines in the PTX."""
STDIN = "<stdin>"
NO_PTX = ("-olto", "-lto", "--emit-optix-ir")
"""Options by which it makes something that we cannot read."""


class Cicc:
    """The real cicc with the arguments that nvcc gave it, and a run of it that began early.

    Behind a ``with`` that run has ended.
    """

    def __init__(self, tool: str, arguments: Sequence[str]):
        self.tool = tool
        self.arguments = arguments
        self._begun: tuple[str, ToolRun] | None = None

    def value(self, option: str) -> str:
        """What stands behind an option; empty where it is not given."""
        words = self.arguments
        return words[words.index(option) + 1] if option in words else ""

    @property
    def name(self) -> str:
        """The user's name of the source; of what nvcc reads from its input as others have it."""
        return STDIN if self._is_input else self._given_name

    @property
    def path(self) -> str:
        """Where the source is."""
        return STDIN if self._is_input else self.value("--orig_src_path_name")

    @property
    def _given_name(self) -> str:
        return self.value("--orig_src_file_name")

    @property
    def _is_input(self) -> bool:
        """Whether nvcc has read the source from its input, and copied it to a file of its own."""
        return self._given_name.endswith("_stdin") and "tmpxft_" in self._given_name

    @cached_property
    def annotated(self) -> Annotated:
        """The source, preprocessed, as nvcc gave it."""
        text = read_text(input_of(self.arguments))
        if self._is_input:
            text = text.replace(f'"{self._given_name}"', f'"{STDIN}"')
        return Annotated(text, self.name)

    @property
    def keeps_lines(self) -> bool:
        """Whether the user wants a table of lines in the PTX."""
        return not {LINES, "-g"}.isdisjoint(self.arguments)

    def begin(self, text: str) -> None:
        """Begin to make PTX of a text, and of no other one."""
        self.__exit__()
        self._begun = text, self._start(text)

    def make_ptx(self, text: str) -> ToolRun:
        """What makes PTX of a text: the run that began early, if that is its text."""
        if self._begun and self._begun[0] == text:
            begun, self._begun = self._begun[1], None
            return begun
        return self._start(text)

    def _start(self, text: str) -> ToolRun:
        words = list(self.arguments)
        if not self.keeps_lines:
            words.insert(words.index("-o"), LINES)  # for what there is to say of the code
        return ToolRun(self.tool, words, text.encode(errors="surrogateescape"), "output.ptx")

    def __enter__(self) -> Cicc:
        return self

    def __exit__(self, *_: object) -> None:
        if self._begun:
            begun, self._begun = self._begun[1], None
            begun.__exit__()


def main(tool: str, arguments: Sequence[str]) -> int:
    """Do what the real ``tool`` would do with these arguments, and what is asked of us."""
    options = Options.received()
    if options.plain:
        return host.run(tool, arguments)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="surrogateescape")  # names are shown as they are
    end_tidily()
    with Cicc(tool, arguments) as cicc:
        if not options.off and not set(NO_PTX).intersection(arguments):
            with suppress(CccError, OSError):  # of what is wrong the device pass will tell
                cicc.begin(cicc.annotated.mark().text)
        from ccc.nvcc import device_pass  # noqa: PLC0415 - loaded while cicc runs

        return device_pass.run(cicc, options)
