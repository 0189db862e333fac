"""Every threshold of the analyses: what can be collected, and what a compiler is known not to do.

Those of the passes, which weigh what is worth doing, are in :mod:`ccc.passes.thresholds`.
"""

from __future__ import annotations

CHEAP_SLICE = 8
"""Most instructions of a path that its owner may run again for the sake of its next iteration."""
SMALL_FUNCTION = 500
"""Most instructions of a function in which a marker may have copies: in larger ones, what a
compiler moves depends on how much it has looked at. One of 627 random kernels had 717, and was not
the same."""
FEW_UNSUNK = 2
"""So many instructions before a branch that only its arm needs are no reason to compile again."""
LONG_ROW = 32
"""So many instructions in a row are not run unasked: nvcc 13.0 does that with six at most, and with
what one division by a constant becomes."""
LONG_ROW_OF_THEIR_OWN = 8
"""So many are not, either, of which none is a part of what one such division becomes."""
WAITED_TURNS = 1 << 32
"""The most turns in which a lane that waits up to a limit gives up. One looks at memory and takes
some hundred nanoseconds or more, so that these take minutes: more are as good as no limit. All
numbers of 32 bits are as many, so that a counter of as many bits needs no known bound."""
