"""What is expected where a kernel waits for memory that neighbours share."""

from __future__ import annotations

import pytest
from folders import GOLDEN
from goldens import Golden

from ccc.analysis.facts import Facts
from ccc.analysis.paths.find import find_paths
from ccc.analysis.paths.model import Path
from ccc.compiler.transform import transform
from ccc.parse import parse_function, parse_module
from ccc.passes.choice.chosen import ANYWAY, APART, LOSES, MEMORY
from ccc.passes.choice.cost_model import LoopCost
from ccc.passes.choice.exchange import GATHERED, STREAMED
from ccc.passes.choice.lanes import Lanes
from ccc.passes.choice.path_cost import PathCost
from ccc.passes.choice.streams import Stream, streams
from ccc.passes.choice.work import ONE_ADDRESS, work_of_blocks
from ccc.passes.grid_stride import GridStride
from ccc.passes.thresholds import GAIN, MEMORY_GAIN, UNKNOWN_TURNS
from ccc.pipeline import Kernel
from ccc.ptx.occupancy import likely_multiprocessors
from ccc.ptx.throughput import SECTOR, Pipe, slots_of
from ccc.ptx.types import WARP_SIZE
from ccc.remark import Remark

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 n)
.maxntid 256, 1, 1
{
	.reg .pred %p<9>;
	.reg .b32 %r<9>;
	.reg .f32 %f<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r2, [n];
	mov.u32 %r1, %tid.x;
	// ccc.loop 1 k.cu:1:1
EACH:
	// ccc.for 1 k.cu:1:1
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	add.s64 %rd5, %rd2, %rd3;
	ld.global.u32 %r3, [%rd4];
	cvt.rn.f32.u32 %f1, %r3;
	setp.ne.u32 %p1, %r3, 7;
	@%p1 bra JOIN;
	// ccc.then 2 k.cu:2:1 prob=PROB
	WORK
	INSIDE
JOIN:
	REST
	add.s32 %r1, %r1, 256;
	setp.lt.u32 %p2, %r1, %r2;
	@%p2 bra EACH;
	ret;
}
"""
STORE = "st.global.f32 [%rd5], %f1;"
OTHERS = "".join(f"st.global.f32 [%rd5+{1 << 20 + place}], %f1; " for place in range(4))


def text(inside: str, rest: str, length: int = 100, prob: float = 0.125) -> str:
    work = "fma.rn.f32 %f1, %f1, %f1, %f1; " * length
    parts = {"WORK": work, "INSIDE": inside, "REST": rest, "PROB": str(prob)}
    found = KERNEL
    for name, code in parts.items():
        found = found.replace(name, code)
    return found.replace("; ", ";\n\t")


def facts_of(ptx: str) -> Facts:
    return Facts(parse_function(next(iter(parse_module(ptx, "k.ptx").functions))))


def remark(ptx: str) -> Remark:
    *_, found = transform(ptx).remarks["k"]
    return found


def expected(ptx: str) -> float:
    return float(max(remark(ptx).details["considered"].values()))


def test_lanes_that_are_neighbours_share_sectors() -> None:
    stream = Stream(4, stores=False, often=1)
    assert stream.together(32) == 4
    assert stream.together(1) == pytest.approx(1, rel=0.12)
    assert 3.5 < stream.together(16) < 4


@pytest.mark.parametrize("stores", [False, True])
def test_who_comes_later_asks_for_sectors_again(stores: bool) -> None:
    stream = Stream(4, stores, often=1)
    assert stream.parted(0) == stream.parted(32) == 0
    assert 0 < stream.parted(1) < stream.parted(4)
    assert stream.parted(4) == pytest.approx(stream.parted(28))


def test_what_is_written_in_parts_takes_longer() -> None:
    read, written = (Stream(4, stores, often=1).parted(4) for stores in (False, True))
    assert written > 2 * read


def test_lanes_that_share_no_sector_lose_none() -> None:
    assert Stream(32, stores=True, often=1).parted(4) == pytest.approx(0)


def test_the_streams_of_a_loop_are_read_and_written_side_by_side() -> None:
    uniform = "ld.global.f32 %f2, [%rd2+64]; "
    anywhere = "mul.wide.u32 %rd6, %r3, 4; add.s64 %rd7, %rd2, %rd6; st.global.f32 [%rd7], %f2; "
    facts = facts_of(text("", f"{uniform}{anywhere}ld.global.f32 %f3, [%rd5]; {STORE}"))
    (loop,) = facts.loops
    found = streams(loop.blocks, facts, loop, loop.header, loop.header)
    assert [(one.sectors, one.stores) for one in found] == [(4, False), (4, False), (4, True)]


@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize("is_copied", [False, True])
def test_lanes_that_go_along_pieces_of_their_own_ask_for_a_sector_each(
    is_copied: bool, is_inside: bool
) -> None:
    """As with `for (i = lane * count; i != end; ++i)`, inside of another loop, too."""
    given = text("", STORE).replace(
        "mov.u32 %r1, %tid.x", "mov.u32 %r1, %tid.x;\n\tmul.lo.u32 %r1, %r1, %r2"
    )
    step = "add.s32 %r1, %r1, 256;"
    assert step in given
    again = "mov.u32 %r8, %r1;\n\tadd.s32 %r1, %r8, 1;" if is_copied else "add.s32 %r1, %r1, 1;"
    given = given.replace(step, again)
    if is_inside:
        given = given.replace("mov.u32 %r1, %tid.x", "OUTER:\n\tmov.u32 %r1, %tid.x")
        given = given.replace("\tret;", "\tsetp.ne.u32 %p3, %r1, 9;\n\t@%p3 bra OUTER;\n\tret;")
    facts = facts_of(given)
    loop = next(one for one in facts.loops if one.header == "EACH")
    found = streams(loop.blocks, facts, loop, loop.header, loop.header)
    assert [(one.sectors, one.stores) for one in found] == [(32, False), (32, True)]
    assert all(one.often == pytest.approx(1 + STREAMED / 8) and not one.shared for one in found)


TURNS = (
    "mul.wide.u32 %rd6, %r3, 4; add.s64 %rd7, %rd2, %rd6; mov.u32 %r4, 0;\n"
    "TURN: ACCESS; add.s64 %rd7, %rd7, 4; add.s32 %r4, %r4, 1; "
    "setp.lt.u32 %p3, %r4, %r3; @%p3 bra TURN; "
)
ANYWHERE = "mul.wide.u32 %rd6, %r3, 4; add.s64 %rd6, %rd2, %rd6; ld.global.u32 %r3, [%rd6]; "
"""What a list begins with is found by way of an index, so that several may have it."""


@pytest.mark.parametrize(
    ("before", "access", "sectors"),
    [
        ("", "ld.global.f32 %f2, [%rd7]", STREAMED * 4 / SECTOR),
        ("", "st.global.f32 [%rd7], %f2", STREAMED * 4 / SECTOR),
        ("", "st.global.v4.f32 [%rd7], {%f2, %f2, %f2, %f2}", STREAMED * 4 / SECTOR),
        (ANYWHERE, "ld.global.f32 %f2, [%rd7]", 0),
        ("", "ld.global.u32 %r5, [%rd7]; mad.wide.u32 %rd8, %r5, 4, %rd1; "
             "red.global.add.u32 [%rd8], 1", 1 + STREAMED * 4 / SECTOR),
    ],
)  # fmt: skip
def test_lanes_that_go_along_lists_of_their_own_wait_for_memory(
    before: str, access: str, sectors: float
) -> None:
    """As rows of a matrix, each of which is read once; what is read again is in a cache."""
    facts = facts_of(text(before + TURNS.replace("ACCESS", access), ""))
    (path,) = (one for one in find_paths(facts) if isinstance(one, Path))
    found = streams(path.blocks, facts, path.loop.loop, path.entry)
    inner = sum(one.together(1) for one in found if one.sectors == WARP_SIZE)
    begin = GATHERED if before else 0
    assert inner == pytest.approx(UNKNOWN_TURNS * sectors + begin)


@pytest.mark.parametrize(
    ("index", "sectors"),
    [
        ("ld.global.u32 %r4, [%rd3]", 32 * GATHERED),
        ("ld.shared.u32 %r4, [%rd3]", 0),
        ("xor.b32 %r4, %r1, 21", 0),
        ("ld.global.u32 %r4, [%rd1]", 0),
        ("mov.u64 %rd2, table; ld.global.u32 %r4, [%rd3]", 0),
        ("ld.global.u64 %rd2, [%rd3]; mov.u32 %r4, %r1", 0),
        ("ld.global.u64 %rd7, [%rd3]; shl.b64 %rd8, %rd7, 2; add.s64 %rd2, %rd2, %rd8; "
         "mov.u32 %r4, %r1", 32 * GATHERED),
    ],
)  # fmt: skip
def test_what_each_lane_reads_by_an_index_is_not_all_in_the_cache(
    index: str, sectors: float
) -> None:
    """Not what is read at an address that is computed, since neighbours may share sectors there, or
    where all lanes have read one number; nor in a table, or by way of a pointer."""
    place = "mul.wide.u32 %rd6, %r4, 4; add.s64 %rd6, %rd2, %rd6;"
    gather = f"{index}; {place} ld.global.u32 %r3, [%rd6];"
    facts = facts_of(text("", gather))
    loop = next(one for one in facts.loops if one.header == "EACH")
    found = streams(loop.blocks, facts, loop, loop.header, loop.header)
    apart = [one.together(WARP_SIZE) for one in found if one.sectors == WARP_SIZE]
    assert sum(apart) == pytest.approx(sectors)


def test_a_branch_whose_result_is_stored_with_that_of_others_is_left() -> None:
    inside, behind = remark(text(STORE, "")), remark(text("", STORE))
    assert inside.applied
    assert not behind.applied
    assert behind.details["considered"]["queue"] < 1


def test_it_is_told_that_a_loop_waits_for_memory() -> None:
    told = str(remark(text("", STORE, length=40)).advice)
    assert told.endswith(f", {MEMORY}; strategy(batch3) {LOSES}")
    inside = str(remark(text(STORE + OTHERS, "", length=20)).advice)
    assert inside.endswith(f", {MEMORY}; strategy(batch3) {ANYWAY}")


def test_it_is_told_that_tasks_would_access_apart_what_lanes_access_together() -> None:
    told = str(remark(text("", STORE, length=100)).advice)
    assert f", {APART}; strategy(" in told


@pytest.mark.parametrize("length", [70, 100])
def test_where_memory_is_busy_more_is_to_be_gained(length: int) -> None:
    told = remark(text(STORE, "", length))
    gain = max(told.details["considered"].values())
    assert gain > GAIN
    assert told.applied == (gain >= MEMORY_GAIN)
    assert told.applied == (length == 100)


def test_where_memory_is_what_a_loop_waits_for_nothing_is_gained() -> None:
    assert expected(text(STORE, "")) > 1.1
    assert expected(text(STORE + OTHERS, "", length=20)) == pytest.approx(1)


BLOCKS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
.maxntid SIZE, 1, 1
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .f32 %f<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [x];
	ld.param.u32 %r2, [n];
	// ccc.grid_stride 1 k.cu:1:1
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.s32 %r1, %r4, %r3, %r5;
	setp.ge.s32 %p1, %r1, %r2;
	@%p1 bra JOIN;
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.f32 %f1, [%rd4];
	setp.gt.f32 %p2, %f1, 0f3F800000;
	@%p2 bra JOIN;
	// ccc.then 2 k.cu:2:1 prob=0.125
	WORK
	st.global.f32 [%rd4], %f1;
JOIN:
	ret;
}
"""


def test_blocks_that_leave_at_once_take_their_time() -> None:
    """A warp of a large block has but its share in that."""
    work = "fma.rn.f32 %f1, %f1, %f1, %f1;\n\t" * 100
    small, large = (BLOCKS.replace("WORK", work).replace("SIZE", size) for size in ("64", "512"))
    assert expected(small) < 1 < expected(large)


@pytest.mark.parametrize(
    ("address", "number"), [("%rd1", 1), ("%rd4", 0), ("%rd1+4", 1)], ids=["one", "each", "other"]
)
def test_lanes_that_come_one_by_one_queue_at_one_address(address: str, number: int) -> None:
    """`atomicAdd(count, 1)` takes a turn of the whole GPU each time."""
    count = f"red.global.add.u32 [{address}], 1;"
    plain, counting = (facts_of(text("", rest)) for rest in ("", count))
    works = [
        work_of_blocks([one.label for one in facts.function.blocks], facts, facts.entry)
        for facts in (plain, counting)
    ]
    sectors = [work.busy("sm_90")[Pipe.SECTORS] / slots_of(Pipe.SECTORS, "sm_90") for work in works]
    assert sectors[1] - sectors[0] == pytest.approx(number * ONE_ADDRESS * UNKNOWN_TURNS)


def test_what_queues_at_one_address_only_now_and_then_saves_nothing() -> None:
    """As the count of errors in a branch that is collected: who comes there is nobody, mostly."""
    always = "red.global.add.u32 [%rd1], 1;"
    seldom = "setp.ne.u32 %p5, %r3, 9; @%p5 bra GOOD; red.global.add.u32 [%rd1], 1;\nGOOD:\n"
    gains = [
        expected(text(inside, "").replace(".reg .pred %p<9>", ".reg .pred %p<10>"))
        for inside in ("", always, seldom)
    ]
    assert gains[1] > 2 * gains[0]
    assert gains[2] == pytest.approx(gains[0], rel=0.1)


def visited(visits: float) -> Lanes:
    return Lanes("", 0.9, 2.0, length=2000.0, visits=visits)


def test_the_blocks_of_a_grid_are_so_many_iterations_as_a_multiprocessor_has_no_room_for() -> None:
    """Where a profile counted the warps of the launch, each of which came by once."""
    marked = BLOCKS.replace("WORK", "fma.rn.f32 %f1, %f1, %f1, %f1;\n\t" * 100)
    gains, iterations = [], []
    for warps in (4, 64, 64 * 64):
        function = parse_function(next(iter(parse_module(marked.replace("SIZE", "256")).functions)))
        kernel = Kernel(function, Facts(function), arch="sm_90")
        GridStride().run(kernel)
        (path,) = (one.path for one in kernel.records if isinstance(one.path, Path))
        every = float(warps * likely_multiprocessors("sm_90"))
        cost = LoopCost(path.loop, [path], {path: visited(every)}, kernel)
        iterations.append(cost.iterations)
        gains.append(cost.slots({}) / cost.slots({path: "queue"}))
    assert iterations == [1, 1, 64]
    assert gains[0] == gains[1] < 1 < gains[2]


def test_what_lies_behind_the_turns_of_a_task_is_come_to_once_in_an_iteration() -> None:
    """A branch in these turns carries the task along, to the store behind them."""
    golden = Golden.read(GOLDEN / "context-collection" / "branches_of_a_walk.ptx")
    (piece,) = (p for p in parse_module(golden.before).functions if p.name == "k")
    facts = Facts(parse_function(piece))
    paths = [p for p in find_paths(facts) if isinstance(p, Path) and p.parent and p.join]
    assert paths
    for path in paths:
        lanes = Lanes("", 16.0, 64.0)
        cost = PathCost.of(path, lanes, (), facts)
        assert not any(one.parted(4) for one in cost.rest_streams)
        once = sum(one.parted(4) for one in cost.last_streams)
        assert once > 0
        assert cost.parted(16.0) == pytest.approx(once)
