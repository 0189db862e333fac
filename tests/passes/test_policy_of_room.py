"""What the policy takes where there is little room, and what strategies cost."""

from __future__ import annotations

import re

import pytest
from collecting import transform
from deciding import CONTEXT_COLLECTION, decided, golden
from folders import DOCS

from ccc.ir.printer import print_function
from ccc.nvcc.command import usage
from ccc.passes.choice.stacks import share_of
from ccc.passes.context_collection import ContextCollection
from ccc.passes.context_collection.layout import on_paper
from ccc.passes.policy import settle
from ccc.passes.room import no_room
from ccc.passes.strategies.cases import CASES
from ccc.passes.strategies.leave import LEAVE
from ccc.passes.strategies.merge import MERGE
from ccc.passes.strategies.queue import QUEUE
from ccc.passes.strategies.registry import (
    NUMBERED,
    STRATEGIES,
    STRATEGY_NAMES,
    read_request,
    spellings,
)
from ccc.passes.strategies.strategy import context_words
from ccc.ptx.types import DEFAULT_SHARED_BYTES


def test_the_first_that_fits_is_taken() -> None:
    kernel = golden("if_else")
    decision = decided(kernel)
    taken = []
    for limit in range(0, 256 * 1024, 1024):
        kernel.shared_limit = limit
        taken.append(settle(decision, kernel, 0))
    names = [choice.strategy.name for choice in taken]
    assert list(dict.fromkeys(names)) == ["leave", "merge", "queue"]
    ((record, reason),) = taken[0].reasons
    assert "does not fit into shared memory" in reason
    assert LEAVE.rewrite(kernel, taken[0]) is None
    assert record.reason == reason


def test_sums_alone_may_be_too_large() -> None:
    kernel = golden("joined_lists_of_sums_alone")
    kernel.shared_limit = 0
    choice = settle(decided(kernel, "engage"), kernel, 0)
    assert choice.strategy is LEAVE
    ((_, reason),) = choice.reasons
    assert "a warp would take 128 bytes of shared memory, and gets 0" in reason


def test_what_takes_no_shared_memory_fits_beside_any() -> None:
    kernel = golden("one_list_with_sums")
    kernel.dynamic_shared_bytes = 2 * kernel.shared_limit
    assert settle(decided(kernel, "engage"), kernel, 0).strategy is QUEUE


@pytest.mark.parametrize(
    ("name", "strategy", "shares"),
    [("if_else", "queue", True), ("if_else", "merge", False), ("case_returns", "queue", True),
     ("nested_paths", "queue", False)],
)  # fmt: skip
def test_exclusive_paths_of_a_queue_share_their_snapshots(
    name: str, strategy: str, shares: bool
) -> None:
    kernel = golden(name)
    choice = settle(decided(kernel, strategy), kernel, 0)
    assert choice.strategy.name == strategy
    plans = on_paper(choice).plans
    snapshots = [set(plan.snapshot.values()) for plan in plans]
    tasks = [set(plan.task_registers.values()) for plan in plans]
    assert len(plans) > 1
    assert bool(set.intersection(*snapshots)) == shares
    assert all(one.isdisjoint(other) for one in snapshots for other in tasks) == shares
    assert shares or snapshots == tasks


def test_what_would_fit_is_told() -> None:
    kernel = golden("if_else")

    def reason() -> str:
        ((_, text),) = settle(decided(kernel), kernel, 0).reasons
        return text

    kernel.shared_limit = 8 * 1024
    assert " by --ccc-max-block" in reason()
    kernel.dynamic_shared_bytes = 2 * kernel.shared_limit
    assert not re.search(r"-\d+ fit", reason())
    kernel.dynamic_shared_bytes = 0
    kernel.function.limits["maxntid"] = (256, 1, 1)
    kernel.shared_limit = 0
    assert reason().endswith("(a block would have 3072 and gets 0)")
    kernel.shared_limit = 256 // 32 * 4 * 32
    assert re.search(r"; blocks of \d+ threads have room for all paths of the loop, u", reason())
    kernel.shared_limit //= 2
    kernel.function.limits["maxntid"] = (64, 1, 1)
    assert re.search(r"; blocks of \d+ threads have room, u[^;]*; a context of 8 bytes", reason())


def test_blocks_that_fit_have_room_for_all_paths() -> None:
    """Also once one of them was left."""
    kernel = golden("if_else")
    kernel.shared_limit = 2 * 1024
    ((first, reason),) = settle(decided(kernel), kernel, 0).reasons
    (fits,) = re.findall(r": (\d+) fit for all paths of the loop", reason)
    first.leave_alone(reason)
    ((_, other),) = settle(decided(kernel), kernel, 0).reasons
    assert f": {fits} fit for all paths of the loop" in other
    kernel = golden("if_else")
    kernel.shared_limit = 2 * 1024
    kernel.function.limits["maxntid"] = (int(fits), 1, 1)
    assert settle(decided(kernel), kernel, 0).strategy is not LEAVE


def test_what_a_strategy_would_have_room_for_is_told() -> None:
    """Smaller blocks, unless there is none that fits; larger launches, unless they are asked for
    already, or cannot be; and each of them has room."""
    kernel = golden("if_else")
    share = on_paper(settle(decided(kernel, "queue"), kernel, 0)).share

    def told(used: int, limit: int = DEFAULT_SHARED_BYTES) -> str:
        kernel.dynamic_shared_bytes, kernel.shared_limit = used, limit
        return no_room(kernel, share)

    kernel.arch = "sm_90"
    some = told(46 * 1024)
    (fits,) = re.findall(
        r"beside the 47104 bytes in use; say how large .*: (\d+) fit by .*; or --", some
    )
    (limit,) = re.findall(r"or --ccc-shared-limit=(\d+), and", some)
    kernel.shared_limit = int(limit)
    assert settle(decided(kernel, "queue"), kernel, 0).strategy.name == "queue"
    kernel.shared_limit = DEFAULT_SHARED_BYTES
    kernel.function.limits["maxntid"] = (int(fits), 1, 1)
    assert settle(decided(kernel, "queue"), kernel, 0).strategy.name == "queue"
    kernel.function.limits["maxntid"] = (int(fits) + 32, 1, 1)
    assert settle(decided(kernel, "queue"), kernel, 0).strategy.name != "queue"
    assert f"; blocks of {fits} threads have room, unless nvcc makes other" in told(46 * 1024)
    assert "in use; say --ccc-shared-limit=" in told(60 * 1024)
    assert told(60 * 1024, 61 * 1024).endswith("in use")
    kernel.takes_dynamic = False
    assert told(60 * 1024).endswith("in use")


def test_what_takes_no_room_is_not_too_large() -> None:
    kernel = golden("uniform_turns")
    kernel.shared_limit = 0
    choice = settle(decided(kernel), kernel, 4)
    assert choice.strategy is LEAVE
    assert [record.path.repeats for record, _ in choice.reasons] == [False]


def test_a_kernel_without_known_shared_memory_is_left() -> None:
    kernel = golden("if_else")
    kernel.dynamic_shared_bytes = None
    choice = settle(decided(kernel), kernel, 0)
    assert choice.strategy is LEAVE
    assert [record for record, _ in choice.reasons] == kernel.records


def test_costs() -> None:
    kernel = golden("if_else")
    paths = [path.path for path in decided(kernel).paths]
    words = [context_words(path) for path in paths]
    left = LEAVE.cost(paths, kernel.facts)
    assert left.exchange_slots == 0
    assert left.run_slots == sum(
        len(list(kernel.facts.blocks[label].instructions))
        for path in paths
        for label in path.blocks
    )
    queue, merge, cases = (one.cost(paths, kernel.facts) for one in (QUEUE, MERGE, CASES))
    assert queue.run_slots == merge.run_slots == cases.run_slots
    assert all(path.continuation for path in paths)  # so the rest runs with each of them
    assert queue.run_slots > left.run_slots
    assert queue.exchange_slots == merge.exchange_slots == 3 * sum(words)
    assert cases.exchange_slots == 3 * max(words)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("mixed_types", "queue"), ("nested_paths", "merge"), ("if_else", "cases"),
     ("nested_while", "merge"), ("branches_of_a_walk", "queue"), ("block_lists", "engage_block"),
     ("joined_lists_with_sums", "engage"), ("reduction", "queue"), ("case_returns", "queue"),
     ("adaptive", "adaptive(1)"), ("early_loads", "batch3"), ("nested_paths", "pool"),
     ("path_in_variable_loop", "uniform"), ("poles_of_nuclides", "merge")],
)  # fmt: skip
def test_the_cost_model_counts_the_room_that_stacks_take(name: str, wanted: str) -> None:
    kernel = golden(name)
    kernel.shared_limit = 1 << 20
    decision = decided(kernel, wanted)
    choice = settle(decision, kernel, 0)
    served = {one.path: one.served_by(choice.strategy).name for one in decision.paths}
    expected = share_of(decision.loop, served, kernel.facts)
    rewritten = choice.strategy.rewrite(kernel, choice)
    assert rewritten is not None
    assert rewritten.share == expected


def test_the_registry_names_each_once() -> None:
    names = [strategy.name for strategy in STRATEGIES]
    assert len(set(names)) == len(names)
    for name in STRATEGY_NAMES:
        spelled = f"{name}({NUMBERED[name][0]})" if name in NUMBERED else name
        assert str(read_request(spelled)) == spelled


def test_help_and_docs_name_what_the_registry_has() -> None:
    option = f"--ccc-strategy={'|'.join(spellings())}"
    assert " ".join(usage().split()).count(", ".join(spellings())) == 1
    assert option.replace("|", r"\|") in DOCS.joinpath("annotations.md").read_text()
    design = DOCS.joinpath("design.md").read_text().replace("\n", " ")
    assert all(f"`{strategy.name.partition('(')[0]}" in design for strategy in STRATEGIES)


def test_each_path_that_does_not_fit_is_left_with_a_reason() -> None:
    kernel = golden("if_else")
    kernel.shared_limit = 0
    before = print_function(kernel.function)
    ContextCollection().run(kernel)
    assert len(kernel.records) == 2
    assert all("does not fit into shared memory" in str(r.reason) for r in kernel.records)
    assert print_function(kernel.function) == before


def test_what_is_for_paths_of_another_kind_is_declined() -> None:
    path = CONTEXT_COLLECTION / "if_else.ptx"
    text = path.read_text().partition("// %%% after %%%")[0]
    asked = re.sub(r"(// ccc\.then \d+ \S+)", r"\1 strategy=engage", text)
    result = transform(asked, filename="k.ptx")
    (told,) = (one for one in result.complaints if "engage" in one.message)
    assert told.message.endswith(
        "does not apply: it has nothing to do with a path of this kind; "
        'it is for loops marked "ccc for variable"; queue is done instead [in k]'
    )


def test_a_strategy_without_a_number_is_followed_with_any() -> None:
    path = CONTEXT_COLLECTION / "if_else.ptx"
    text = path.read_text().partition("// %%% after %%%")[0]
    asked = re.sub(r"(// ccc\.then \d+ \S+)", r"\1 strategy=adaptive", text)
    result = transform(asked, filename="k.ptx")
    (found,) = (one for one in result.remarks["k"] if one.asked == "adaptive")
    assert found.strategy == "adaptive(1)"
    assert not result.complaints
