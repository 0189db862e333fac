"""What the body of a function is made of: instructions, labels, directives, braces."""

from __future__ import annotations

import re

ITEM = re.compile(
    r"""\s*(?: (?P<plain>(?a:(?:(?P<guard>@!?%?[\w$]+)\s+)?
                             (?P<opcode>[a-z][\w.]*(?:::[\w.]+)*)
                             (?:\s+(?=\S)(?P<words>[^;:{}"]*(?:\{[^;:{}"]*\}[^;:{}"]*)*))?;))
             | (?P<marker>//[^\n]*)
             | (?P<brace>[{}])
             | (?P<loc>\.loc(?:\s+\d+)+
                       (?:\s*,\s*function_name\s+[^\s,]+(?:\s*\+\s*\d+)?
                          \s*,\s*inlined_at(?:\s+\d+)+)?)
             | (?P<register>(?a:\.reg\s+\.(?P<type>\w+)\s+(?P<name>%?[a-zA-Z_$][\w$]*)
                                (?:<(?P<count>[1-9][0-9]{0,8})>)?\s*;))
             | (?P<variable>(?a:\.(?:param|local|shared)\s+(?:\.align\s+[1-9][0-9]?\s+)?
                                \.b(?:8|16|32|64)\s+[a-zA-Z_$][\w$]*(?:\[[1-9][0-9]{0,8}\])?\s*;))
             | (?P<pragma>\.pragma\b(?:"[^"]*"|[^;"])*;)
             | (?P<label>[\w$%]+)\s*:(?!:
                                 | \s*\.(?:branchtargets|callprototype|calltargets)\b[^;]*;)
             | (?P<table>[\w$%]+\s*:\s*\.\w+\b[^;]*;)
             | (?P<statement>[^;{}"]+(?:\{[^{}]*\}[^;{}]*)*;)
             | (?P<end>\Z)
             | (?P<other>\S) )""",
    re.X,
)
"""One of them. ``plain`` is what nearly all are, an instruction of an opcode and its words, and
``register`` and ``variable`` what most declarations look like."""

PLAIN, GUARD, OPCODE, WORDS = (ITEM.groupindex[n] for n in ("plain", "guard", "opcode", "words"))
