"""What goes wrong in an emulated kernel."""

from __future__ import annotations

from ccc.errors import CccError, Span

Index3 = tuple[int, int, int]


class EmulatorError(CccError):
    """A fault of the emulated program, or something that the emulator does not emulate.

    Args:
        message: what happened.
        span: the PTX instruction.
        block: index of the faulting thread's block, where one thread is at fault.
        thread: index of that thread in its block.
        address: the address it used.
        hint: what to do about it.
    """

    def __init__(
        self,
        message: str,
        span: Span | None = None,
        *,
        block: Index3 | None = None,
        thread: Index3 | None = None,
        address: int | None = None,
        hint: str = "",
    ):
        if address is not None:
            message = f"{message}, address {address:#x}"
        if thread is not None:
            message = f"{message}, thread {thread} of block {block}"
        super().__init__(f"{message}; {hint}" if hint else message, span)
        self.block = block
        self.thread = thread
        self.address = address
