"""What code has functions do with its variables: which it hands over, and how these update them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ccc.frontend import classes, elements, generators, lambdas, updates
from ccc.frontend.called_values import given_in
from ccc.frontend.syntax import (
    body_of,
    by_reference,
    declared_in,
    every_node,
    identifiers_in,
    parameter_name,
    parameters,
    to_constant,
)

if TYPE_CHECKING:
    from ccc.frontend.syntax import Node


class Update(NamedTuple):
    """A variable, or a member of one, as the caller names it, and how a call changes it, as
    ``updates.operator`` says; None if that is not told, empty if the call makes more of it.

    ``by`` are the other variables that the call is given.
    """

    name: bytes
    operator: str | None
    by: frozenset[bytes | None]


class HandedOver(NamedTuple):
    """A variable that a call may change, and the ways in which functions of that name do.

    It ``is_stepped`` where they make of it what follows from it, whatever else they are given. It
    stands in the body ``within`` where a lambda knows it. Of members of a method's own object it is
    the method that is called.
    """

    base: Node
    function: bytes
    updates: tuple[Update, ...]
    is_stepped: bool = False
    within: Node | None = None


_Named = Callable[[bytes], "Sequence[Node]"]
_MEMBER = "field_expression"
_PLACES = ("identifier", _MEMBER, "pointer_expression")
_CALL = b"operator()"
"""What is called of a variable that is called as if it were a function."""
_ASSIGNED = "assignment_expression"
_OPERATORS = (_ASSIGNED, "binary_expression")
"""What may call a function, or a method, that is named as its sign is."""
_DEEPEST = 3
"""Into so many functions, each called by the one before, is looked."""


def handed_over(path: Node, named: _Named, depth: int = _DEEPEST) -> Iterator[HandedOver]:
    """The variables whose addresses a statement hands to functions, or that these take by
    reference, those whose methods it calls, and those that the lambdas change that it calls.

    Args:
        path: the statement.
        named: the functions of the text that have a plain name.
        depth: into how many functions to look, each of which is called by the one before.
    """
    around = lambdas.outermost(path) or path
    declared = dict(declared_in(around))
    kept, own = lambdas.kept_in(around), declared.keys()
    yield from _by_operators(path, named, depth)
    arrays = {name for name, is_array in declared.items() if is_array}
    yield from _by_subscripts(path, named, arrays)
    for call in updates.every(path, lambda node: node.type == "call_expression"):
        function, listed = (call.child_by_field_name(part) for part in ("function", "arguments"))
        if function is None or listed is None:
            continue
        name, is_used = _plain_name(function), updates.is_taken(call)
        by = frozenset(node.text for node in identifiers_in(listed))
        if function.type == "identifier" and name in kept and depth > 0:
            yield from _by_lambda(kept[name], name, by, named, depth)
        is_object = function.type == "identifier" and name in own and name not in kept
        name = _CALL if is_object else name
        known = [kept[name]] if name in kept and function.type == "identifier" else named(name)
        called = classes.taking(known, listed.named_child_count)
        base = updates.base_of(function) if is_object or function.type == _MEMBER else None
        if base is not None:
            method = _method(base, called)
            members = _of_place(call, method) if method else {}
            members = members or (_of_members(method, named, depth, is_used) if method else {})
            is_known = method is not None or not is_object
            if is_known and not (method is not None and classes.only_reads(method)):
                stepped_by = method is not None and _steps_object(method)
                yield HandedOver(base, name, _updates(base, members, by), stepped_by)
        elif element := _element(function, path):
            of_all = [_of_members(one, named, depth, is_used) for one in called]
            every = {key: None for each in of_all for key in each}
            if every or not called:
                stepped_by = bool(called) and all(map(_steps_object, called))
                found = (_of_element(element[1], every, by),)
                yield HandedOver(element[0], name, found, stepped_by)
        for number, one in enumerate(listed.named_children):
            yield from _given(one, number, name, called, by, named, depth, is_used)


def _given(
    one: Node,
    number: int,
    name: bytes,
    called: Sequence[Node],
    by: frozenset[bytes | None],
    named: _Named,
    depth: int,
    is_used: bool,
) -> Iterator[HandedOver]:
    """What functions make of what they are given at some place, by its address or by reference."""
    is_address = one.type == "pointer_expression" and one.children[0].type == "&"
    place = one.child_by_field_name("argument") if is_address else one
    given = updates.base_of(place)
    called = classes.taking_it(called, number, updates.whole(place))
    element = _element(place, one) if given is None else None
    if called and is_address and all(to_constant(f, number) for f in called):
        return
    if not is_address and not any(by_reference(f, number) for f in called):
        return
    made = [_of_parameter(f, number, named, depth, is_used) for f in called]
    every = {key: None for each in made for key in each}
    is_stepped = bool(called) and all(_steps(f, number, named, depth) for f in called)
    if given is not None:
        yield HandedOver(given, name, _updates(given, every, by), is_stepped)
    elif element is not None and every:
        found = (_of_element(element[1], every, by),)
        yield HandedOver(element[0], name, found, is_stepped)


def _element(place: Node | None, where: Node) -> tuple[Node, bytes] | None:
    """The variable that has the array that an element is of, and that, if it is a function's own;
    of a method that is called, the element that it is a method of."""
    found = elements.array_of(place)
    if found is None or found[1] is None or not elements.is_own(where, found[1], found[2]):
        return None
    return found[1], found[2]


def _of_element(array: bytes, made: _Made, by: frozenset[bytes | None]) -> Update:
    """What a call does to elements of an array, by what it does to the members of one."""
    operations = {one if one in updates.REDUCING else "" for _, one in made}
    return Update(array, f"[{operations.pop() if len(operations) == 1 else ''}]", by)


def _by_operators(path: Node, named: _Named, depth: int) -> Iterator[HandedOver]:
    """The variables that a statement changes by operators of their own, ``s += x``."""
    for node in updates.every(path, lambda node: node.type in _OPERATORS):
        left, sign, right = (node.child_by_field_name(p) for p in ("left", "operator", "right"))
        base = updates.base_of(left)
        name = b"operator" + ((sign.text or b"") if sign else b"")
        called = named(name) if base and sign else ()
        if base is None or right is None or not called:
            continue
        kind, is_used = classes.kind_of(base) or None, updates.is_taken(node)
        by = frozenset(one.text for one in identifiers_in(right))
        for one in called:
            listed = parameters(one)
            is_method = classes.class_of(one) == kind and len(listed) == 1
            if kind and is_method and not classes.only_reads(one):
                made, is_stepped = _of_members(one, named, depth, is_used), _steps_object(one)
            elif (
                kind
                and len(listed) == 2
                and by_reference(one, 0)
                and classes.is_of(listed[0], kind)
            ):
                made, is_stepped = _of_parameter(one, 0, named, depth, is_used), False
            else:
                continue
            is_by_sign = node.type == _ASSIGNED and not (made and all(one for one, _ in made))
            if not is_by_sign:
                yield HandedOver(base, name, _updates(base, made, by), is_stepped)


def _by_subscripts(path: Node, named: _Named, arrays: set[bytes]) -> Iterator[HandedOver]:
    """The variables of which a statement changes what their operator gives, ``s[0] += x``; not
    those that are arrays of a library."""
    for node in updates.every(path, lambda node: node.type == "subscript_expression"):
        base = updates.base_of(node.child_by_field_name("argument"))
        kind = classes.kind_of(base) if base and base.text not in arrays else b""
        for one in named(b"operator[]") if base and kind else ():
            made = _of_place(node, one) if classes.class_of(one) == kind else ()
            if base and made:
                yield HandedOver(base, b"operator[]", _updates(base, made, frozenset()))


def _by_lambda(
    function: Node, called: bytes, by: frozenset[bytes | None], named: _Named, depth: int
) -> Iterator[HandedOver]:
    """What the call of a lambda does to the variables around it, where it does."""
    body = body_of(function, "body")
    if body is None:
        return
    kept = {name.encode(): by for by, name in updates.extremes(body)}
    others = [name for one in parameters(function) for name, _ in declared_in(one)]
    own = [name for name, _ in declared_in(body)]
    for change, base in updates.changes(body):
        if lambdas.is_reached(function, base):
            name = updates.name_of(base)
            update = Update(name, kept.get(name, updates.operator(change)), by)
            every = list(updates.changes_of(body, name))
            is_stepped = updates.is_stepped(every, others, own)
            yield HandedOver(base, called, (update,), is_stepped, body)
    for base, name, text, how in lambdas.changed_through_pointers(function, body):
        yield HandedOver(base, called, (Update(name, kept.get(text, how), by),), within=body)
    for one in handed_over(body, named, depth - 1):
        if lambdas.is_reached(function, one.base):
            yield one._replace(within=one.within or body)


_Made = Collection[tuple[bytes, str | None]]
"""The members of something that a function changes, none for the whole, and by which operators."""


def _updates(base: Node, made: _Made, by: frozenset[bytes | None]) -> tuple[Update, ...]:
    """What a call does to a variable; if nobody knows, something."""
    whole = updates.name_of(base)
    found = made or [(b"", None)]
    return tuple(
        Update(b".".join(filter(None, (whole, member))), operator, by) for member, operator in found
    )


def _plain_name(function: Node) -> bytes:
    """That of what is called: no object, no scopes, no template arguments."""
    for part in ("field", "name"):
        while (inner := function.child_by_field_name(part)) is not None:
            function = inner
    return function.text or b""


def _of_parameter(
    function: Node, number: int, named: _Named, depth: int, is_used: bool = False
) -> _Made:
    """How a function changes what it is given at some place; what it returns may be used."""
    body, name = body_of(function, "body"), parameter_name(function, number)
    if body is None or name is None:
        return {}
    ways = {name: b"", b"*" + name: b""}
    ways |= {name + sign: b"." for sign in (b".", b"->")} | {b"(*%s)." % name: b"."}

    def member(place: bytes) -> bytes | None:
        if place in ways:
            return b""
        return next((place[len(way) :] for way, is_of in ways.items()
                     if is_of and place.startswith(way)), None)  # fmt: skip

    return _changed(body, member, named, depth, is_used)


def _of_members(method: Node, named: _Named, depth: int, is_used: bool = False) -> _Made:
    """How a method changes the members of its object; what it returns may be used."""
    body = body_of(method, "body")
    fields = classes.fields_beside(method)
    own = {name for name, _ in declared_in(method)}

    def member(place: bytes) -> bytes | None:
        plain = place.removeprefix(b"this->")
        is_own = place.partition(b".")[0] in own
        return plain if plain.partition(b".")[0] in fields and not is_own else None

    if body is None:
        return {}
    every = _changed(body, member, named, depth, is_used)
    inner = classes.own_methods(method, body) if depth > 1 else ()
    more = (_of_members(one, named, depth - 1, is_used=True) for one in inner)
    return _joined([every, *more])


def _of_place(call: Node, method: Node) -> _Made:
    """How an assignment changes the member, or the array, whose place a method gives for that,
    ``s.sum() += x``; nothing where it is another one."""
    change, given = call.parent, given_in(method)
    if change is None or given is None or given.condition or change.type not in updates.CHANGES:
        return {}
    is_changed = change.child_by_field_name(updates.CHANGES[change.type]) == call
    place, sign = updates.bare(given.value), updates.sign_of(change)
    is_element = place is not None and place.type == "subscript_expression"
    array = place.child_by_field_name("argument") if place is not None and is_element else place
    name = updates.text_of(array).removeprefix(b"this->") if array is not None else b""
    if not is_changed or name.partition(b".")[0] not in classes.fields_beside(method):
        return {}
    return [(name, f"[{sign or ''}]" if is_element else sign)]


def _changed(
    body: Node,
    member: Callable[[bytes], bytes | None],
    named: _Named,
    depth: int,
    is_used: bool,
) -> _Made:
    """What a body changes of something of which ``member`` knows the members by what stands there,
    and how: the least or the most, where a branch keeps that."""
    branches = [
        (by, member(name.encode()), one) for by, name, one in updates.extreme_branches(body)
    ]
    kept = {name: by for by, name, _ in branches}
    changes = [
        (one, member(updates.text_of(place)))
        for one in updates.assignments(body)
        if (place := updates.place_of(one)) is not None
    ]
    calls: list[HandedOver] = []
    if depth > 1:
        calls += handed_over(body, named, depth - 1)
        calls += passed_on(body, named, depth - 1)
    given = [(call.base, member(one.name), one) for call in calls for one in call.updates]
    done = [*changes, *((base, found) for base, found, _ in given)]
    asked = ((one.child_by_field_name("condition"), name) for _, name, one in branches)
    done += [(one, name) for one, name in asked if one is not None]
    read = _read(body, member, done, is_used)
    every = [
        (found, None if _makes_more(one, is_used) else updates.operator(one) or updates.flag(one))
        for one, found in changes
    ]
    every += [(found, one.operator) for _, found, one in given]
    known = [
        (found, "" if found in read else kept.get(found, by))
        for found, by in every
        if found is not None
    ]
    arrays = ((member(one.array), one.operator) for one in elements.changed(body))
    return dict.fromkeys([*known, *((found, by) for found, by in arrays if found)])


def _joined(every: Sequence[_Made]) -> _Made:
    """What is changed by all of some functions; of a member that several change otherwise nobody
    knows how."""
    found: dict[bytes, set[str | None]] = {}
    for member, operator in (one for each in every for one in each):
        found.setdefault(member, set()).add(operator)
    no_one = {one: "" if "" in by else None for one, by in found.items()}
    return [(one, by.pop() if len(by) == 1 else no_one[one]) for one, by in found.items()]


def _makes_more(change: Node, is_used: bool) -> bool:
    """Whether a body makes something of what an assignment gives, but for returning it where that
    is not used."""
    around = change.parent
    is_returned = around is not None and around.type == "return_statement"
    return updates.is_taken(change) and (is_used or not is_returned)


def _read(
    body: Node,
    member: Callable[[bytes], bytes | None],
    done: Collection[tuple[Node, bytes | None]],
    is_used: bool,
) -> set[bytes | None]:
    """The members that a body reads elsewhere than where something is ``done`` to them, but for
    what it returns where that is not used."""
    found = set[bytes | None]()
    for node in updates.every(body, lambda node: node.type in _PLACES):
        around, name = node.parent, member(updates.text_of(node))
        if around is None or around.type in _PLACES:
            continue
        if around.type == "return_statement" and not is_used:
            continue
        here = (one for one, of in done if of == name)
        if not any(one.start_byte <= node.start_byte < one.end_byte for one in here):
            found.add(name)
    return found


def by_own_methods(path: Node, named: _Named) -> Iterator[HandedOver]:
    """The methods of its own object that a statement of a method calls, which change members of
    that, or read what others of them change."""
    method = lambdas.outermost(path)
    if method is None:
        return
    own = {name for name, _ in declared_in(method)}
    calls = [
        (call, one, _of_members(one, named, _DEEPEST, updates.is_taken(call)))
        for call, one in classes.own_calls(method, path)
    ]
    changed = {member for *_, made in calls for member, _ in made} - own
    for call, one, made in calls:
        function = call.child_by_field_name("function")
        if function is None:
            continue
        by = frozenset(node.text for node in identifiers_in(call))
        done = [(member, how) for member, how in made if member in changed]
        read = {node.text or b"" for node in every_node(one)} & changed
        done += [(member, "") for member in sorted(read - {member for member, _ in done})]
        if done:
            found = tuple(Update(member, how, by) for member, how in done)
            yield HandedOver(function, _plain_name(function), found, _steps_object(one))


def passed_on(body: Node, named: _Named, depth: int = _DEEPEST) -> Iterator[HandedOver]:
    """The pointers of which a body changes what they lead to, by functions that it hands them to as
    they are, or that by reference, ``next(*p)``, or by methods of that, ``p->state.next()``."""
    for call in updates.every(body, lambda node: node.type == "call_expression"):
        function, listed = (call.child_by_field_name(part) for part in ("function", "arguments"))
        if function is None or listed is None:
            continue
        name = _plain_name(function)
        called = classes.taking(named(name), listed.named_child_count)
        by = frozenset(node.text for node in identifiers_in(listed))
        for number, one in enumerate(listed.named_children):
            base, way = updates.whole(one), _of_pointer
            if base is None and one.type == "pointer_expression" and one.children[0].type == "*":
                base, way = updates.whole(one.child_by_field_name("argument")), _of_reference
            meant = classes.taking_it(called, number, base)
            made = {key: None for f in meant for key in way(f, number, named, depth)}
            if base is not None and made:
                stepped = all(_steps(f, number, named, depth) for f in meant)
                yield HandedOver(base, name, _led_to(base, b"->", made, by), stepped)
        place, base = function.child_by_field_name("argument"), _led_from(function)
        method = _method(base, called) if base is not None else None
        if place is not None and base is not None and method is not None:
            sign = b"->" if updates.is_arrow(function) else b"."
            found = _led_to(place, sign, _of_members(method, named, depth), by)
            yield HandedOver(base, name, found, _steps_object(method))


def _led_to(
    place: Node, sign: bytes, made: _Made, by: frozenset[bytes | None]
) -> tuple[Update, ...]:
    """What a call does to what a pointer leads to."""
    whole = updates.text_of(place)
    return tuple(Update(whole + sign + one if one else whole, how, by) for one, how in made)


def _of_pointer(function: Node, number: int, named: _Named, depth: int) -> _Made:
    """How a function changes what the pointer leads to that it gets at some place."""
    parameter = next(iter(parameters(function)[number : number + 1]), None)
    declarator = parameter.child_by_field_name("declarator") if parameter else None
    is_pointer = declarator is not None and declarator.type == "pointer_declarator"
    return _of_parameter(function, number, named, depth) if is_pointer else {}


def _of_reference(function: Node, number: int, named: _Named, depth: int) -> _Made:
    """How a function changes what it takes by reference at some place."""
    is_taken = by_reference(function, number)
    return _of_parameter(function, number, named, depth) if is_taken else {}


def _led_from(place: Node | None) -> Node | None:
    """The pointer ``p`` of ``p->s`` and ``p->s.t``, if that is a variable."""
    node, is_led = place, False
    while node is not None and node.type == _MEMBER:
        is_led = is_led or updates.is_arrow(node)
        node = updates.bare(node.child_by_field_name("argument"))
    return node if is_led and node is not None and node.type == "identifier" else None


def _method(base: Node, called: Sequence[Node]) -> Node | None:
    """The method that is called of a variable, if that is known: of several, that of its type."""
    methods = [one for one in called if classes.fields_beside(one)]
    if len(methods) > 1:
        kind = classes.kind_of(base)
        methods = [one for one in methods if classes.class_of(one) == kind]
    return methods[0] if len(methods) == 1 else None


def _steps(function: Node, number: int, named: _Named, depth: int) -> bool:
    """Whether what a function makes of what it is given at some place follows from that alone, as
    of a state of random numbers, also by functions that it hands that on to."""
    body, name = body_of(function, "body"), parameter_name(function, number)
    if body is None or name is None:
        return False
    others = [other for one in parameters(function) for other, _ in declared_in(one)]
    deeper = depth - 1
    every = (handed_over(body, named, deeper), passed_on(body, named, deeper)) if deeper > 0 else ()
    calls = [one.is_stepped for each in every for one in each if one.base.text == name]
    is_mixed = any(calls) or generators.is_mixed(body, [name])
    return is_mixed and all(calls) and generators.follows_by_itself(body, [name], others)


def _steps_object(method: Node, depth: int = _DEEPEST) -> bool:
    """Whether what a method makes of its object follows from that alone, also by other methods of
    that."""
    body = body_of(method, "body")
    if body is None:
        return False
    own = {local for local, _ in declared_in(method)}
    state = [b"this", *(classes.fields_beside(method) - own)]
    others = [other for one in parameters(method) for other, _ in declared_in(one)]
    inner = list(classes.own_methods(method, body)) if depth > 1 else []
    calls = [
        _steps_object(one, depth - 1) for one in inner if _of_members(one, lambda _: (), depth)
    ]
    is_mixed = any(calls) or generators.is_mixed(body, state)
    return is_mixed and all(calls) and generators.follows_by_itself(body, state, others)
