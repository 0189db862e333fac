"""Arrays of the thread's own in random kernels: what they hold, and who uses them how.

Whatever is read was written: an array is filled where it is declared, mostly with values that
differ from thread to thread. Indices are constant, or masked.
"""

from __future__ import annotations

from ccc.tools.fuzz.drawing import Drawer
from ccc.tools.fuzz.expressions import LITERALS, Scope, Template, expression
from ccc.tools.fuzz.tree import TYPES, Stmt

KINDS = ("table", "nodes", "handed", "fields", "out parameters", "addresses", "callee")
"""What a kernel with arrays may be fond of."""


class ArrayWriter(Drawer):
    """Declares arrays; their uses become forms of the scope."""

    def wants_array(self) -> bool:
        """Whether an iteration has an array."""
        fond = not self.swarm.fond.isdisjoint(KINDS) and self.chance(0.6)
        return fond or self.likes("array", 0.05)

    def array(self, out: list[Stmt], scope: Scope) -> Scope:
        """Add an array of some kind."""
        usual = {"words": 3.0, "table": 0.6, "nodes": 0.7, "handed": 0.6}
        usual |= {"fields": 0.5, "out parameters": 0.4, "addresses": 1.5 * bool(scope.arrays)}
        if not self.slot_names:  # in an iteration it would be allocated again in each
            usual["alloca"] = 1.0
        what = self.pick(usual)
        write = {
            "table": self._table,
            "nodes": self._nodes,
            "alloca": self._allocated,
            "handed": self._handed,
            "fields": self._fields,
            "out parameters": self._out_parameters,
            "addresses": self._addresses,
        }
        scope = write.get(what, self._words)(out, scope)
        if what == "words" and scope.arrays and self.likes("addresses", 0.1):
            scope = self._addresses(out, scope)
        return scope

    def effect(self, scope: Scope) -> Stmt:
        """A statement that the surroundings offer."""
        drawn = expression(self.random, scope, "", 1 + self.below(2))
        return Stmt(drawn.form, drawn.parts, names=drawn.names)

    # -- kinds of arrays ------------------------------------------------------------------------

    def _words(self, out: list[Stmt], scope: Scope) -> Scope:
        """Equal elements."""
        name, size = self.fresh("k"), 4 << self.below(3)
        kind = "uuuuuulfhd"[self.below(10)]
        type_ = TYPES[kind]
        if size == 4 and self.chance(0.4):
            parts = tuple(self.value(scope, kind) for _ in range(4))
            text = f"{type_} {name}[4] = {{$0, $1, $2, $3}};"
        else:
            parts = (self.value(scope, kind),)
            text = f"{type_} {name}[{size}];\nfor (int j = 0; j < {size}; ++j) "
            text += f"{name}[j] = ({type_})($0 * ({type_})(j + {self.below(2)}));"
        out.append(Stmt(text, parts, declares=(name,)))
        mask = f"$0 & {size - 1}"
        forms = [
            Template(kind, f"{name}[{mask}]", "u", 10, (name,)),
            Template(kind, f"{name}[{self.below(size)}]", "", 3, (name,)),
            Template("", f"{name}[{mask}] = $1;", f"u{kind}", 4, (name,)),
            Template("", f"{name}[{self.below(size)}] = $0;", kind, 2, (name,)),
        ]
        if kind == "u":
            forms.append(Template("", f"{name}[{mask}] ^= $1;", "uu", 3, (name,)))
            forms.append(Template("u", f"{name}[{name}[{mask}] & {size - 1}]", "u", 3, (name,)))
            forms += self._for_callees(name, size)
        return scope.extend(*forms, arrays=(name,) if kind == "u" else ())

    def _for_callees(self, name: str, size: int) -> list[Template]:
        """What functions do to an array whose address they are given."""
        if not self.likes("callee", 0.3):
            return []
        some = f"&{name}[$0 & {size - 4}]"
        return [
            Template("u", f"f_total({some})", "u", 4, (name,)),
            Template("u", f"*f_at({name}, $0)", "u", 3, (name,)),
            Template("", f"f_fill({some}, $1);", "uu", 3, (name,)),
            Template("", f"*f_at({name}, $0) = $1;", "uu", 2, (name,)),
            Template("", f"f_two($0, {name}, {name} + 2);", "u", 1, (name,)),
        ]

    def _handed(self, out: list[Stmt], scope: Scope) -> Scope:
        """An array that functions alone use."""
        name = self.fresh("k")
        text = f"unsigned {name}[4];\nf_new({name}, $0);"
        out.append(Stmt(text, (self.value(scope, "u"),), declares=(name,)))
        forms = [Template("u", f"f_total({name})", "", 9, (name,))]
        if self.chance(0.5):
            forms.append(Template("", f"f_fill({name}, $0);", "u", 3, (name,)))
        return scope.extend(*forms)

    def _allocated(self, out: list[Stmt], scope: Scope) -> Scope:
        """Memory of a size that is known at run time, of which the first words are used."""
        name = self.fresh("k")
        text = (
            f"unsigned *{name} = (unsigned *)__builtin_alloca(4 * (4 + ($0 & 3)));\n"
            f"for (unsigned j = 0; j < 4; ++j) {name}[j] = $1 + j * l;"
        )
        out.append(Stmt(text, (self.value(scope, "u"), self.value(scope, "u")), declares=(name,)))
        forms = [Template("u", f"{name}[$0 & 3]", "u", 10, (name,))]
        forms.append(Template("", f"{name}[$0 & 3] ^= $1;", "uu", 3, (name,)))
        return scope.extend(*forms, *self._for_callees(name, 4), arrays=(name,))

    def _table(self, out: list[Stmt], scope: Scope) -> Scope:
        """Constants, the same in all threads."""
        name, size = self.fresh("k"), 4 << self.below(3)
        const = "const " if self.chance(0.6) else ""
        numbers = ", ".join(LITERALS["u"][self.below(7)] for _ in range(size))
        out.append(Stmt(f"{const}unsigned {name}[{size}] = {{{numbers}}};", declares=(name,)))
        forms = [Template("u", f"{name}[$0 & {size - 1}]", "u", 10, (name,))]
        if self.likes("callee", 0.3):
            forms.append(Template("u", f"f_total({name})", "", 5, (name,)))
        return scope.extend(*forms)

    def _nodes(self, out: list[Stmt], scope: Scope) -> Scope:
        """Structures with pointers from one to another, and a pointer into them."""
        name, at, node = self.fresh("k"), self.fresh("m"), self.fresh("Node")
        text = (
            f"struct {node} {{ {node} *next; unsigned v; }};\n{node} {name}[4];\n"
            f"for (unsigned j = 0; j < 4; ++j) {{\n"
            f"{name}[j].next = &{name}[(j + $0) & 3];\n{name}[j].v = $1 * j;\n}}\n"
            f"{node} *{at} = {name}[$0 & 3].next;"
        )
        parts = (self.value(scope, "u"), self.value(scope, "u"))
        out.append(Stmt(text, parts, declares=(name, at)))
        followed = (
            Template("u", f"{at}->v", "", 8, (at,)),
            Template("u", f"{at}->next->v", "", 5, (at,)),
        )
        if self.chance(0.4):
            return scope.extend(*followed)
        return scope.extend(
            *followed,
            Template("u", f"{name}[$0 & 3].next->v", "u", 5, (name,)),
            Template("", f"{at} = {at}->next;", "", 4, (at,)),
            Template("", f"{at}->v ^= $0;", "u", 4, (at,)),
            Template("", f"{name}[$0 & 3].v = $1;", "uu", 3, (name,)),
            Template("", f"{name}[$0 & 3].next = &{name}[$1 & 3];", "uu", 3, (name,)),
        )

    def _fields(self, out: list[Stmt], scope: Scope) -> Scope:
        """Structures of fields of several sizes, also seen as bytes."""
        name = self.fresh("k")
        text = (
            f"struct {{ unsigned long long a; unsigned b; unsigned short c[2]; }} {name}[2];\n"
            f"for (unsigned j = 0; j < 2; ++j) {{\n{name}[j].a = $0 + j;\n"
            f"{name}[j].b = $1 ^ j;\n{name}[j].c[0] = {name}[j].c[1] = $2;\n}}"
        )
        parts = (self.value(scope, "l"), self.value(scope, "u"), self.value(scope, "h"))
        out.append(Stmt(text, parts, declares=(name,)))
        field = f"{name}[$0 & 1]"
        return scope.extend(
            Template("l", f"{field}.a", "u", 6, (name,)),
            Template("u", f"{field}.b", "u", 6, (name,)),
            Template("h", f"{field}.c[$1 & 1]", "uu", 6, (name,)),
            Template("u", f"((const unsigned char *){name})[$0 & 31]", "u", 4, (name,)),
            Template("", f"{field}.a += $1;", "ul", 3, (name,)),
            Template("", f"{field}.b = $1;", "uu", 3, (name,)),
            Template("", f"{field}.c[$1 & 1] = $2;", "uuh", 3, (name,)),
            Template(
                "", f"((unsigned char *){name})[$0 & 31] = (unsigned char)$1;", "uu", 2, (name,)
            ),
        )

    def _out_parameters(self, out: list[Stmt], scope: Scope) -> Scope:
        """Variables that a function writes to."""
        one, two = self.fresh("v"), self.fresh("v")
        text = f"unsigned {one}, {two} = $0;\nf_two($1, &{one}, &{two});"
        parts = (self.value(scope, "u"), self.value(scope, "u"))
        out.append(Stmt(text, parts, declares=(one, two)))
        again = Template("", f"f_two($0, &{one}, &{two});", "u", 2, (one, two))
        return scope.declare(one, "u").declare(two, "u").extend(again)

    def _addresses(self, out: list[Stmt], scope: Scope) -> Scope:
        """Addresses in an array: stored, and loaded again."""
        name = self.fresh("m")
        target = scope.arrays[self.below(len(scope.arrays))]
        other = scope.arrays[self.below(len(scope.arrays))]
        parts = (self.value(scope, "u"), self.value(scope, "u"))
        if self.likes("callee", 0.3):
            text = f"unsigned *{name}[2];\nf_keep({name}, {target}, $0);\n"
            text += f"f_keep({name} + 1, {other}, $1);"
        else:
            text = f"unsigned *{name}[2] = {{&{target}[$0 & 3], &{other}[$1 & 3]}};"
        out.append(Stmt(text, parts, names=(target, other), declares=(name,)))
        names = (name,)
        return scope.extend(
            Template("u", f"*{name}[$0 & 1]", "u", 8, names),
            Template("u", f"*{name}[{self.below(2)}]", "", 4, names),
            Template("", f"*{name}[$0 & 1] ^= $1;", "uu", 4, names),
            Template("", f"{name}[$0 & 1] = &{target}[$1 & 3];", "uu", 3, (*names, target)),
            Template("", f"{name}[0] = {name}[1];", "", 1, names),
        )
