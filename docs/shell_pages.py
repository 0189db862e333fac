"""What a shell is told of ``cccc``: the manual page, and the words that it completes."""

from __future__ import annotations

from ccc.nvcc.command import OPTIONS
from ccc.version import VERSION

WORDS = [f"{name}=" if option.value else name for name, option in OPTIONS.items()]
MADE = "Made from the source by `python docs/pages.py`."


def manual() -> str:
    """``man cccc``."""
    lines = [
        rf".\" {MADE}",
        f'.TH CCCC 1 "" "ccc {VERSION}" "User Commands"',
        ".SH NAME",
        r"cccc \- nvcc with one more pass, which removes warp divergence",
        ".SH SYNOPSIS",
        ".B cccc",
        r"[\fB\-\-ccc\-\fIOPTION\fR ...] [any nvcc option ...] \fIFILE\fR ...",
        ".SH DESCRIPTION",
        r"Takes nvcc's command line, and runs nvcc. Between its device compiler and its assembler,",
        r"loops and branches that are annotated with",
        r"\fB#pragma ccc\fR are collected, so that the lanes of a warp wait less for one another.",
        "Whatever has no annotation is compiled as nvcc alone compiles it.",
        ".SH OPTIONS",
    ]
    for name, option in OPTIONS.items():
        value = rf"=\fI{_plain(option.value)}\fR" if option.value else ""
        lines += [".TP", rf"\fB{_plain(name)}\fR{value}", _plain(option.text)]
    lines += [".PP", "All other options are nvcc's.", ".SH ENVIRONMENT"]
    for name, text in VARIABLES.items():
        lines += [".TP", rf"\fB{name}\fR", text]
    lines += [
        ".SH EXIT STATUS",
        "That of nvcc; 1 for an annotation that is wrong, or cannot be followed under",
        rf"\fB{_plain('--ccc-strict')}\fR; 2 for a wrong option of cccc; 128 and its number for a",
        "signal.",
        ".SH SEE ALSO",
        r"\fBnvcc\fR(1)",
    ]
    return "\n".join([*lines, ""])


VARIABLES = {
    "CCC_FLAGS": "Options of cccc that go behind those of the command.",
    "CCC_NVCC": "The nvcc to run. Without it CUDA_HOME, CUDA_PATH, the PATH and the wheels of the"
    "\nrunning Python are looked through.",
    "CCC_CACHE_DIR": "The folder for what is kept between runs; by default ~/.cache/ccc.",
    "NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS": "As of nvcc; options of cccc may be among them.",
}


def _plain(text: str | None) -> str:
    return (text or "").replace("\\", r"\e").replace("-", r"\-")


def bash() -> str:
    """Completion for bash, which splits words at ``=``."""
    return f"""\
# {MADE}
_cccc() {{
    local word=${{COMP_WORDS[COMP_CWORD]}}
    case $word in
    --ccc-*)
        COMPREPLY=($(compgen -W '{" ".join(WORDS)}' -- "$word"))
        [[ ${{COMPREPLY[*]}} == *= ]] && compopt -o nospace
        ;;
    *)
        COMPREPLY=($(compgen -f -- "${{word#=}}"))
        ;;
    esac
}}
complete -o filenames -F _cccc cccc
"""


def zsh() -> str:
    """Completion for zsh."""
    rows = []
    for name, option in OPTIONS.items():
        told = option.text.replace("'", "'\\''").replace("[", r"\[").replace("]", r"\]")
        value = (
            f":{option.value if isinstance(option.value, str) else 'NAME'}:" if option.value else ""
        )
        rows.append(
            f"    '*{name}{'=' if value else ''}[{told.replace(':', chr(92) + ':')}]"
            f"{value}{'_files' if option.value == 'FILE' else ' ' if value else ''}'"
        )
    joined = " \\\n".join(rows)
    return f"#compdef cccc\n# {MADE}\n_arguments \\\n{joined} \\\n    '*:file:_files'\n"


def fish() -> str:
    """Completion for fish."""
    rows = [f"# {MADE}"]
    for name, option in OPTIONS.items():
        told = option.text.replace("'", r"\'")
        takes = " -r" if option.value == "FILE" else " -x" if option.value else ""
        rows.append(f"complete -c cccc -l {name.lstrip('-')}{takes} -d '{told}'")
    return "\n".join([*rows, ""])
