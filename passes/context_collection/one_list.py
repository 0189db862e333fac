"""Items of joined lists that all belong to one of them (no pass; joined lists use it).

A list that is much longer than a warp is wide takes the warp many steps. Nobody has to ask whose
item is whose meanwhile: that is seen once, and then the lanes go on, several turns side by side,
and look for nothing until the list has not so many items left for all.

    ITEMS:    do the next items of all lanes lie in one list? else each lane looks for its own
    WALK:     their turns; as many again, as long as the list lasts
              bra ITEMS;
"""

from __future__ import annotations

from ccc.snippet import Snippet

IN_ONE_LIST = Snippet("""
    .reg .pred %begun, %covers, %several;
    .reg .b32 %begin, %end, %first, %behind, %owners, %owner, %last;
        setp.le.u32 %begun, %begin, %first;
        setp.ge.and.u32 %covers, %end, %behind, %begun;
        vote.sync.ballot.b32 %owners, %covers, -1;
        setp.eq.b32 %several, %owners, 0;     // the same for all
        @%several bra SEVERAL;
        bfind.u32 %owner, %owners;
        shfl.sync.idx.b32 %last, %end, %owner, 31, -1;
""")
"""Does a list hold the next items of all lanes? At most one does."""

STILL_IN_ONE_LIST = Snippet(
    """
    .reg .pred %ends;
    .reg .b32 %row, %end, %first, %behind, %last;
    STILL:
        shfl.sync.idx.b32 %last, %end, %row, 31, -1;
        add.s32 %behind, %first, ITEMS_OF_ALL;
        setp.gt.u32 %ends, %behind, %last;    // the same for all
        @%ends bra SAME;
    """,
    "ITEMS_OF_ALL",
)
"""The same where no lane got an item of another list than 32 items before. So those that have one
are all in the same list, since lists follow one another; and a lane that has none lies behind the
last of all lists, so that these are shorter than is asked for."""

WALK = Snippet("""
    .reg .b32 %item, %place, %first, %last, %left;
        mov.b32 %place, %item;
        sub.s32 %left, %last, %first;
    WALK:
""")

GO_ON = Snippet(
    """
    .reg .pred %more;
    .reg .b32 %place, %left, %lane, %first, %end, %total, %half, %quarter, %last_quarter;
    LATCH:
        add.s32 %place, %place, ITEMS_OF_ALL;
        sub.s32 %left, %left, ITEMS_OF_ALL;
        setp.ge.u32 %more, %left, ITEMS_OF_ALL;
        @%more bra WALK;                      // the same for all
        mov.u32 %lane, %laneid;
        sub.s32 %first, %place, %lane;
        shfl.sync.idx.b32 %total, %end, 31, 31, -1;
        shfl.sync.idx.b32 %half, %end, 15, 31, -1;
        shfl.sync.idx.b32 %quarter, %end, 7, 31, -1;
        shfl.sync.idx.b32 %last_quarter, %end, 23, 31, -1;
        bra ITEMS;
    """,
    "ITEMS_OF_ALL",
)
"""What is only needed where lanes look for their lists is asked for again: its registers are free
for what several turns load side by side."""
