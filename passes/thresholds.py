"""Every threshold of the passes, with the measurement behind it.

Those of the analyses are in ``analysis/thresholds.py``: what can be collected at all, and what a
compiler is known not to do. One more stands elsewhere, since it is of the source alone: how large a
variable may be to be given a value, ``MOST_BYTES`` in ``frontend/unset.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

ON_REQUEST = ("pool", "bins")
"""What is done only where it is asked for. On an H200 (2026-11-22), one path that lanes take at
random, ratios original / ccc in a queue and with a pool, 1, 4 and 16 iterations a thread: 64
operations, 8 lanes 0.70, 0.78; 1.21, 1.17; 1.23, 1.25; 256 operations, 8 lanes 0.86, 1.25; 1.99,
2.32; 2.40, 2.55; 16 lanes 0.87, 0.98; 1.38, 1.58; 1.56, 1.63. Warps of a block that differ in
their work, which a pool has wait for one another, were not measured."""
BINNED_WARPS = 0.75
"""The share of the original's warps that ptxas is to leave room for where tasks are apart by their
turns. On an H200 (2026-11-24) samples/integral_equation by hand, with 45 registers as ptxas likes,
48 (five eighths of the warps), 40 (three quarters) and 32 (all): 1.82, 1.83, 1.87 and 1.86."""
MANY = 4
"""From so many paths on, a strategy that serves them together is tried before
sequential ones. It rests on two kernels only (H200, 2026-11-20): two arms were 1.6 times as fast as
the original in sequence, 1.4 times together; the ten cases of samples/fractal_flame (its size for a
GPU, ``ccc compare``) 0.8 and 1.1 times."""
SHARE_EXCHANGE = 8
"""From so many branches on that are served together, each is taken to cost only its share of an
exchange. On an H200 (2026-11-22) the ten arms of samples/fractal_flame were 1.59 times as fast with
``cases``; two arms that most and few lanes take 0.6 to 0.84, as if each had paid for its own."""
LONG = 16
"""Turns from which on a task is shared out. On an H200, breadth-first search of an R-MAT graph of
2^20 vertices was 6.7, 6.3, 6.0 and 5.3 times as fast with 16, 32, 64 and 128 (2026-11-20)."""
LONG_PATH = 32
"""Instructions from which on a path in a shared loop is collected; with a loop, it always is. On an
H200, collecting a branch that 8 lanes take one by one paid from 34 operations on (2026-11-20)."""
MOST_TURNS = 8
"""Turns of a short loop that a task does before lanes meet, at most."""
TURNS_LENGTH = 160
"""Instructions in so many turns, about; one turn at least. On an H200 (2026-11-22), ratios original
/ ccc with 1, 2, 4, 8 and 16 turns, best grid of each: Collatz (4 instructions a turn, 4 million
tasks) 1.05, 1.29, 1.47, 1.61, 1.65; escape time of random points (8, at most 256 turns) 1.67, 2.16,
2.55, 2.68, 2.72; 14 instructions, geometric turns with mean 3: 0.89, 0.94, 0.95, 0.85, 0.82, with
mean 40: 0.90, 1.10, 1.32, 1.53, 1.60; 44 instructions, mean 3: 1.27, 1.33, 1.26, 1.00, 0.90, mean
40: 1.75, 1.96, 2.18, 2.34, 2.30."""
MOST_TURNS_APART = 16
"""The same where lanes begin iterations each by itself (``flatten``, ``refill``). On an H200
(2026-11-22), ratios original / ccc of ``flatten`` with 1, 4, 8 and 16 turns: random walks (12
instructions a turn), 200 for each lane, 1.77, 2.51, 2.92, 3.16; 20 for each 1.34, 1.95, 2.25, 2.42.
With 4, 8 and 16: escape time 1.25, 1.37, 1.48; Collatz 1.11, 1.18, 1.22. 14 instructions, turns
with mean 3, with 1, 4 and 8: 0.56, 0.88, 0.88, with mean 40: 0.60, 0.89, 1.05; 44 instructions, 1
and 3 turns, mean 3: 0.92, 1.06, mean 40: 1.17, 1.37. path_tracing (its turn holds a loop), 1 and 2:
1.75, 1.65."""
AT_ONCE = 8
"""Turns of joined lists that a lane runs side by side, at most. Ratios original / ccc with 1, 2, 4
and 8 on an H200 (2026-11-22), R-MAT graphs of 2^21 and 2^20 vertices: samples/bfs 6.05, 8.02, 9.26,
9.47; samples/sssp 1.78, 2.31, 2.39, 2.52; and with what is left of 8 two by two 1.02 and 1.01 times
that."""
AT_ONCE_OF_ALL = 4
"""The same where ptxas is told to leave room for the original's warps. On an H200 (2026-11-29),
original / ccc with 8 at once and as many registers as ptxas likes, and with 4: ranks of pages 1.07
and 1.17 (48 and 32 registers), a bucket of shortest paths 1.63 and 1.91 (39, 32), lists of one to
four tags 0.96 and 1.00 (48, 32), short lists 0.95 and 0.97 (48, 32), joined tables 0.97 and 1.03
(48, 32); pairs of an edge 1.63 and 1.57 (47, 32), cells of which most are empty 1.49 and 1.34."""
AT_ONCE_LENGTH = 120
"""Instructions of all of them, at most. Not measured."""
OWN_AT_ONCE = 4
"""Turns of its own list that a lane runs in a row, as nvcc unrolls loops."""
OWN_LENGTH = 120
"""Instructions of all of them, at most. Not measured."""
OWN_LOADS = 8
"""The same of turns that only load, so that all wait for memory at the same time, as ptxas unrolls
what nvcc has unrolled. On an H200 (2026-11-23), matrices with 17 and 27 entries round the diagonal
in each row, lists run by their own lanes, original / ccc with 1, 4 and 16: pagerank 0.84, 0.87,
0.98 and 0.70, 0.86, 1.00; spmv 0.79, 0.59, 0.77 and 0.66, 0.53, 0.65 (4: registers were spilled).
That was beside 6 and 7 KB of shared memory for a block; without it, 16: pagerank 0.97, 1.06, spmv
1.04, 1.18. Lanes whose lists are not of one length wait for one another in each of the rests of 8,
4, 2 and 1 turns: with 16, 8 and 4 (2026-11-29) rows of 5 to 27 entries 1.04, 1.04, 1.00; sorted
rows 0.98, 0.97, 0.95; sorted degrees 1.01, 1.06, 1.00; doubles 1.00, 1.03, 1.00; two lists a row
0.89, 0.99, 0.94; windows 0.86, 0.89, 0.89; samples of a texture 0.83, 0.84, 0.88; blocks of rows
1.13, 1.13, 1.17; web graphs (samples/nested) the same."""
OWN_LOADS_LENGTH = 320
"""Instructions of all of these, at most. Not measured."""
SHORT_LISTS = (4, 6, 8)
"""Turns of a list that its lane runs at once if these are all, side by side up to each of these. On
an H200 (2026-11-23) rows of 0 to 8 entries near the diagonal, original / ccc without it, with 4 and
with 4 and 4: spmv 0.92, 0.85, 1.11, pagerank 0.93, 0.87, 1.10; rows of which nine in ten are empty
and the others have 3 entries 1.01, 1.00, 0.99 and 1.03, 1.05, 0.99; web graphs 1.98, 1.96, 2.01 and
1.79, 1.76, 1.76. One by one, as a loop, instead: 0 to 8 entries 0.99, 0.94, nine in ten empty 0.94,
0.90. With 4, 2 and 2: spmv 1.12, pagerank 1.11; rows of five 0.99, 0.99 instead of 0.96, 0.98."""
SHORT_LENGTH = 160
"""Instructions of all of them, at most. Not measured."""
BLOCK_TURN = 600
"""Issue slots of a turn from which on the block shares out lists where nobody asks for that: with
the memory that it waits for as a profile tells it, or else by its code alone, whose loops are short
as far as nobody knows. On an H200 (2026-11-23 and 24), original / ccc with ``engage`` and
``engage_block``: samples/quadrature_grid (1350 or more) 2.42, 2.71; nested/u_list (910, 990, 1270
and 1410 by memory, 100 to 160 by instructions) 1.96, 2.24; 1.95, 2.17; 1.78, 2.00; 1.98, 2.11;
patterns/reread_bound (170) 18.1, 16.2; loops of 20, 60, 150 and 400 multiply-additions that add up,
two to eight iterations a thread, 16 turns for each lane 0.89, 0.92, 0.96, 0.98 and 0.54, 0.71,
0.84, 0.92, 0 to 32 turns 0.87, 0.86, 1.21, 1.45 and 0.65, 0.69, 1.02, 1.35, a few long lists 3.2,
5.6, 7.6, 9.3 and 2.7, 5.3, 8.7, 18.0. Turns between 400 and 900 slots were not measured. Then
(2026-11-30), of turns whose loops are short, of which the code alone tells nothing: neighbours of
neighbours (8 turns each) 0.99, 0.80 and, few long, 1.97, 3.28; bond orders (4 each) 0.82, 0.74."""
SHUFFLED_WORDS = 3
"""Words of a task, at most, that lanes ask its owner for in each turn, where they do not add up;
others lie in shared memory. On an H200 (2026-11-23), samples/sssp (five words) by shuffles and from
shared memory, original / ccc: R-MAT 3.50, 4.89; power law 3.03, 3.79; uniform 1.07, 1.08: by
shuffles, registers are scarce, and ptxas loads late."""
OWN_LOAD = 10
"""Issue slots for each load of a turn that a lane runs of its own list, beside those of the model.
With this and what follows, lists are shared out from 2.1 (spmv), 2.4 (pagerank), 2.7 (diagonal),
1.4 (bfs) and 1.5 times (sssp) the mean length on. On an H200 (2026-11-23), what sharing out takes
of the time of own lists was: rows round the diagonal, 5 and 17 in each, spmv 1.81, 1.50, pagerank
2.40, 2.69, diagonal 2.16, 2.39; with 16 entries anywhere 0.86, 0.98, 1.69; 8 to 32 anywhere, the
longest being 1.55 times the mean, 0.75, 0.91, 2.2. No figure that a warp sees tells the first from
the last."""
SHARED_TURN = 14
"""Issue slots to find whose turn it is, counted in machine code of sm_90."""
SHARED_WORD = 1.5
"""The same for each word of its task,"""
SHARED_SUM = 16
"""where turns add up,"""
SHARED_SUM_WORD = 14
"""for each word of sums,"""
SHARED_START = 40
"""to begin with sharing,"""
SHARED_SUMS_START = 150
"""and, where turns add up, beside that. On an H200 (2026-11-23) rows of which nine in ten are empty
and the others have 3 entries, without it and with it: spmv 0.61, 1.01, pagerank 0.72, 1.04,
diagonal 0.65, 0.92."""
BATCH_REGISTERS = 8
"""Registers that the further tasks of a batch take, at most. On an H200 (2026-11-22), original /
ccc one by one, in batches of 3 and of 7: samples/synthetic (one word a task), 20 operations, 1 lane
0.95, 1.42, 1.56; 8 lanes 0.79, 1.07, 1.16; 32 lanes 0.48, 0.56, 0.58; 256 operations, 1 lane 5.48,
7.05, 7.36; 32 lanes 0.85, 0.88, 0.89 (15: less than 7 in each case). integral_equation (six words):
1.61, 1.66, 1.32; ray_tracing (six): 1.00, 0.82, 0.62. What lies between was not measured."""
BATCH_LENGTH = 160
"""Instructions of all iterations of a batch without their path, at most. Not measured."""
LAST_LENGTH = 320
"""Instructions of a path, at most, of which the last tasks get a copy. On an H200 (2026-11-22),
original / ccc in a queue without it and with it, meetings of all lanes by a constant mask in both
but the first: samples/synthetic, 20 operations, 1, 8 and 32 lanes 0.95, 0.79, 0.48; 1.01, 0.84,
0.50; 1.06, 0.92, 0.58; 256 operations 5.53, 2.43, 0.84; 5.85, 2.50, 0.85; 6.23, 2.64, 0.88.
integral_equation 1.61, 1.75, 1.80. Longer paths were not measured."""
IDLE = (1, 10)
"""Issue slots that a round of adaptive collection without a task takes more than the loop as it
was: for each further iteration of a batch, and once. Counted in machine code of sm_90, not
measured."""
PLAIN_ITERATIONS = 128
"""Iterations of the loop as it was that a lane runs before its warp collects again. On an H200
(2026-11-22), original / ccc with 128 and 256: samples/synthetic with 2^30 iterations, no lane, 20
operations 1.04, 1.06, 64 operations 0.97, 0.98, 256 operations 1.00, 1.02; 2^27 iterations, 64
operations, 32 lanes in the first half, then 1, 1.42, 1.39."""
PLAIN_WITH_END = 2
"""How many copies of it there are that end by a nearer bound. Two take no more instructions for an
iteration than nvcc's loop, which keeps constants in registers that ptxas else fetches again: 256
operations, no lane, one, two and four copies: 0.86, 0.93, 0.92; 20 operations, 1 lane, where the
warp collects, 1.58, 1.53, 1.48."""
SLOTS_TO_FIND_OUT = 3500
"""What a thread loses, in slots of the cost model, until adaptive collection has found out that all
lanes take a path. On an H200 (2026-11-23), samples/synthetic with 2^21 threads, original / ccc with
16, 32, 64 and 128 iterations for each: 20 operations, 32 lanes 0.77, 0.87, 0.94, 0.98; 64
operations 0.87, 0.92, 0.96, 0.98; 256 operations 0.95, 0.98, 0.99, 0.99: each time some 3100 to
3800, of which most are those of an atomic operation that is rarely come to. Threads that have fewer
iterations than may cost that run the loop as it was: with 1 to 64 iterations, 8 to 256 operations
and 0 to 32 lanes, 0.56 to 1.02 before, 0.92 to 1.12 then."""
FEW_ITERATIONS = 2
"""With so many iterations a thread, or fewer, a loop that collects without weighing runs as it was.
``ccc bench --calibrate`` on an H200 (2026-11-28), batches of three, 64 operations that four lanes
do, 1, 2, 3, 4, 8 and 16 iterations: 0.68, 1.01, 1.37, 1.36, 1.80 and 1.96 times as fast. On the
emulator (2026-11-27), 1, 2 and 4: one lane 0.56, 0.80, 1.09, and 13 lanes 0.58, 1.02, 1.10."""
TOO_FEW = 8
"""A branch of fewer machine instructions gains nothing, however few lanes take it: to ask in each
iteration who does takes as many. In a loop that does little else and sums up, one of 3, 6, 9 and 12
instructions was at best 0.79, 0.92, 1.01 and 1.12 times as fast with batch3, over shares of 1 to
50 % (H200, 2026-12-01)."""
OF_A_JUMP = 4
"""The most instructions of a branch that does nothing but end the iteration: what it hands on may
have to be copied."""
MOST_FOLLOWED = 6
"""With so many annotations of a kernel left, or fewer, what would be told of each without others is
looked at before anything is told: each look takes as long as the kernel did."""
MOST_ADVISED = 2
"""So much advice in a row is followed for a path before it is told whether that is in vain."""
MOST_LOOKED_THROUGH = 8000
"""Instructions times annotations that are left, of all such looks at a kernel together; there is
one in any case. On two cores 1,000 took 0.3 to 0.6 s (2026-12-01)."""
FEW_COUNTED = 4
"""With fewer iterations a thread in a profile, a remark tells that it may be of too small a run: of
what 16 gain in the measurement above, four gain three eighths."""
SHORT_LOOP_LENGTH = 4000
"""Instructions of such a loop, at most. Not measured."""
USUAL_BLOCK = 256
"""The threads of a block for which there are stacks, where nobody says how large blocks are; larger
ones run loops as they were. On an H200 (2026-11-30), 22 natural kernels that say nothing, 256
rows of inputs and grids, blocks of 256 threads, with stacks for 1,024 and for 256: 48 and 26 rows
under 0.9, 21 and 9 under 0.8, mean (geometric) 1.142 and 1.175; of 40 others with 341 rows 26 and
22, 5 and 3, 1.269 and 1.276. What stacks take of a multiprocessor's memory its cache lacks. Blocks
of 512 and of 1,024 threads (12 kernels, 158 rows): if their first 256 collect 1.00 and 0.97 in the
mean, 32 and 26 rows under 0.95 and 21 and 18 over 1.1; if none does, 0.98 and 0.96, 26 and 18 rows
under 0.95, 8 and 9 over 1.1. What is lost then is by registers, and by shared memory as such: a
block that has some keeps the room of warps that are through until all are."""
SLOTS_TO_LOOK = 70
"""The same until it has found out that nobody takes it: no lane, 20 operations 0.84, 0.93, 0.96,
1.01; 64 operations 0.79, 0.85, 0.91, 0.95; 256 operations 0.77, 0.85, 0.92, 0.95."""
PLAIN_IN_A_ROW = 4
"""How many of any other loop, whose iterations are counted. 20 operations, no lane, one, two and
four copies: 0.77, 0.89, 0.93."""
PLAIN_LENGTH = 1280
"""Instructions of all copies, at most. 256 operations (300 instructions), no lane, copies that are
counted: one 0.67, two 0.81, four 0.86; with an end, one 0.86, two 0.93."""
INSTRUCTIONS_A_WORD = 3
"""Most instructions that one word less on the stack is worth: a store, a load, and its address. Not
measured."""
INVARIANT_WORDS = 4
"""Words that differ between lanes and are loaded before a loop that nvcc loads them in, at most: a
task has to save each. With all 16 of a matrix that each task reads, in a kernel whose blocks may
have 1,024 threads, no stack fitted, and a path that had been collected was left. Not measured."""
MELD_GAIN = 1.1
"""How many times as fast as the original a loop has to be expected for a branch in it to be melded
where nobody asks for that. The model counts what is issued only: on an H200 (2026-11-22)
samples/fractal_flame issued half as much and was 1.08 times as fast."""
FLATTEN_GAIN = 1.3
"""The same of a loop that is flattened. On an H200 (2026-11-28), expected and measured: nearest
neighbours in a grid 1.10, 0.73; cross sections of resonances 3.6, 0.99; 3.2, 1.30 and 4.8, 1.37."""
NO_BOUND = 0.5
"""Of what may be slower than this at worst the figures tell nothing; a loop that is flattened has
such a worst case where its turns are not known."""
MELD_STEPS = 1000
"""Instructions of all arms of a branch that are melded, at most: aligning takes their square, a
second and a half for two arms of 500."""
MELD_GAP = 1.0
"""Issue slots that a run of steps costs which stand alone in an alignment. Not measured."""
MELD_PARTING = 3
"""Issue slots of a branch at which lanes part and meet again. Not measured."""
MELD_DISPATCH = 24
"""Instructions that all lanes of melded arms run to choose their arm, at most; else they part for
that. Not measured."""
MELD_BRANCH = 12
"""Issue slots from which on melded code puts what concerns some arms only behind a branch. Not
measured."""
MELD_ENTRY = 8
"""Issue slots in the time of which a multiprocessor fetches a literal of 64 bits from a table. That
is done beside other work: its first level cache gives a warp 128 bytes in a cycle, in which four
instructions are issued. On an H200 (2026-11-22) two polynomials of degree 64 and double precision
with all coefficients from a table took as long as that says, 0.79 of the original's speed."""
MELD_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the literals of 64 bits that a table may hold, the others being selected: the one with
the fewest issue slots is taken. On an H200 (2026-11-22), ratios original / melded: two polynomials
of degree 64 and double precision 1.01, 1.10, 1.25, 1.02, 0.79; samples/inverse_erf balanced 1.11,
not measured, 1.29, 1.36, 1.44. From constant memory, which takes lanes with different addresses one
after the other, 0.42 and 0.79; from shared memory, which must be filled first, 0.80 and 1.45."""
MELD_AGREE = 8
"""Issue slots that melded code takes more than the shortest arm from which on lanes that agree take
their arm as it was: to ask takes about as many. On an H200 (2026-11-22), ratios original / melded
without asking and with it and 17 million values: two polynomials of degree 64 and double
precision, one value in a thousand of the other arm 0.73, 0.97, half of them 1.25, 1.20; eight
exponentials and cosines (34 slots more) 0.99, 1.03 and 1.65, 1.62; samples/inverse_erf (14 slots
more) uniform 0.94, 0.98, balanced 1.44, 1.37; 64 multiply-adds of variables (3 slots more) without
asking 1.00 and 1.61."""
UNKNOWN_TURNS = 32
"""How often a loop is taken to go round of which nothing is known: as LLVM's branch probabilities
have it, which give the way back 31 of 32."""
FEW_TURNS = 4
"""The same where it is asked what a branch may cost at worst that holds such a loop. On an H200
(2026-11-29) kernels written for that, whose loops in branches have other turns, by what is expected
with 32 of them and with 4, and measured: zeros cut off decimals 1.52, 0.57, and 0.47; points moved
to a surface 3.66, 0.64, and 0.66; characters of several bytes 1.69, 0.86, and 1.15; a colouring of
a graph 3.17, 0.58, and 1.10; seeds extended 1.86, 0.87, and 1.18; likely ends of chains 2.55, 0.53,
and 0.99. With 2, nearest neighbours in a tree would have been left, too, that gain 1.37. A `while`
whose turns hold such a loop, if lanes agree on how many they do, with 32 and with 4, and measured
(2026-11-30): integrals by halved steps 0.95, 0.73, and 0.56; queens on a board 0.96, 0.79, and
0.92; variates by rejection 0.98, 0.86, and 0.85 to 1.10; proofs of primes 0.98, 0.85, and 1.38. A
loop of the turn that goes round as often for all lanes, and in all turns, is the size of something,
and taken to be of 32: samples/path_tracing 0.98, 0.78, and 2.4; genes compared, 12 of it, 0.96,
0.75, and 0.82."""
UNKNOWN_SHARE = 0.5
"""The share of warps that are taken to go one of two ways in a path, or around it. A guess."""
USUAL_LANES = 8
"""The lanes that are taken to be on a path of which nothing is known, where it is to be told what
there might be to gain. A guess."""
GAIN = 1.03
"""How many times as fast as the original a transformed loop has to be expected where its lanes are
known. The model is some hundredths off at its best."""
GAIN_OF_WARPS = 1.5
"""The same where turns are handed on, or nothing is known of the lanes of a branch, and the
registers for that leave room for fewer warps. On an H200 (2026-11-28), of turns by profiles of the
same launch, expected and measured: adaptive Runge-Kutta steps 1.41, 0.98 and 1.46, 0.97; points in
polygons 1.29, 0.76; a walk of photons 1.74, 1.19; implied volatilities 2.36, 1.73 and 8.04, 4.61.
A branch of which nothing was known, that mends Reed-Solomon words: 1.31, 0.87 to 1.00."""
MUCH_MEMORY = 0.3
"""From so large a share of its time on in which memory is busy, more has to be expected of a loop's
branches: what the model takes to happen at the same time does not quite. ``ccc bench --calibrate``
measures from which share on less is had than is expected: on an H200 (2026-11-28), 48, 64, 128 and
256 operations, a share of 0.65, 0.59, 0.36, 0.21: expected 1.28, 1.58, 2.79, 4.64, had 1.09, 1.21,
1.96, 3.24. With so much to be gained as in the last that does not matter."""
MEMORY_GAIN = 1.35
"""How many times as fast it has to be. On an H200 and an H100 (2026-11-27), 2^25 iterations that
read and write a stream: expected 2.20, 2.01, 1.76, measured 1.67, 1.40; 1.60, 1.33; 1.24, 0.96; of
doubles expected 1.59, 1.53, 1.29, 1.25, measured 1.81, 1.45; 1.37, 1.12; 1.40, 1.26; 0.95, 0.93;
with a thread for each item expected 1.37, 1.04, measured 1.05, 0.95; 0.89, 0.86. ``ccc bench
--calibrate`` measures how many times what is had is expected at most, of floats that are read in
each iteration and written in the branch: 1.43 on an H200 (2026-11-28). More streams are in
samples/patterns/streams."""
ADAPTIVE_GAIN = 1.47
"""How many times as fast as the original a loop has to be expected with 8 lanes for warps to find
out by themselves where nobody tells their lanes: 16 operations are expected to be 1.42 times as
fast, and 20 operations 1.52 times. On an H200 (2026-11-22), samples/synthetic with 2^27 iterations,
0, 8 and 32 lanes: 8 operations 1.03, 0.96, 0.94; 14 operations 1.00, 1.08, 0.94; 20 operations
1.02, 1.19, 0.95; 32 operations 0.96, 1.37, 0.97; 64 operations 0.96, 1.93, 0.96; 256 operations
0.95, 3.01, 1.01."""
SEVERAL = 3
"""From so many branches in a loop on, more is to be gained by them than by one or two."""
SEVERAL_GAIN = 1.25
"""How many times as fast such a loop has to be expected. On an H200 (2026-11-22) two of the ten
arms of samples/fractal_flame in queues were expected to bring 1.16, and it was 0.74."""
LOSS = 0.95
"""How slow it may become in the worst case where nothing is known of its lanes, and be expected
where lanes share lists of which nothing is known but that they differ. These gain by how much they
differ: on an H200 (2026-11-29), with registers for 0.5 to 0.62 of the warps and 1.03 expected,
short lists were 0.91 and lists of tags 0.94 times as fast, but with 1.01 samples/sssp is 2.63 times
as fast on R-MAT graphs; so that to ask for 1.1 there has cost more than it saved."""
LOSS_OF_WARPS = 0.83
"""The same with the registers that it takes. On an H200 (2026-11-28) a sphere tracer and a search
of neighbours in a grid, which by this have 0.81 and 0.78, were 0.54 to 0.83 times as fast as the
original; samples/path_tracing, integral_equation and ray_tracing, 0.88 to 0.91 by this, gain."""
LOSS_OF_MEMORY = 0.9
"""The same of registers alone, where nothing is known of the lanes, and the loop waits for memory
if none of them take the branch. On an H200 (2026-11-29), by this and measured: readings of a sensor
of which bursts are fitted again 0.85, 0.81; a case that all lanes take 0.85, 0.98; pixels of which
nearly all have data 0.91, 0.96. samples/integral_equation, 0.91 by this, gains."""
MORE_CACHE = 1.25
"""How many times as much of the first level cache a strategy has to leave, to be taken for that."""
AS_FAST = 0.93
"""How fast it has to be expected beside the one that leaves less. On an H200 (2026-11-30), original
/ ``queue`` and original / ``merge``, which has half the stack: strings that overlap, where a third
of the lanes compare them, 0.47, 0.80, and where few do, 2.74, 2.79; hashes of strings 0.90, 1.05;
sketches that most lanes compare 0.65, 0.97. Of 47 kernels that had ``queue``, 13 are like that: 198
times that were measured have geometric means of 1.02 and 1.06, and 77 and 49 are below 0.95. In the
other 34, where as much is left or all lanes read side by side, neither is ahead: 1.088, 1.087."""
HALF_SPEED = 0.42
"""The share of warps with which a kernel has half of the speed that any number of them would give
it: with a share s it has s / (s + that). On an H200 (2026-11-20 to 22) samples with 75 %, 75 % and
62.5 % of their warps and 2.3, 1.05 and 1.16 times less to issue were 2.13, 0.96 and 0.98 times as
fast, for which that gives 2.09, 0.95 and 0.99. A kernel with 164 registers was 0.88 times as fast
as the original in blocks of 256 threads, 12.5 % of the warps, and 1.32 in blocks of 128, 18.75 %:
that is 0.67, and this gives 0.74."""
BATCH_LOADS = 1
"""Loads of global memory in a path, at most, that is served in batches. On an H200 (2026-11-22),
four loads and 20 operations, 8, 16 and 24 lanes: batches of seven 0.86, 0.74 and 0.55 times as fast
as the original, a queue 1.02, 1.04 and 0.98."""
COUNTER_LANES = 2
"""Idle lanes for which a warp takes iterations from the counter of the launch, where nobody says
how many. On an H200 (2026-11-23), original / ccc with 1, 2 and 4: samples/path_tracing 2.43, 2.44,
2.42; samples/patterns/collatz 1.23, 1.25, 1.29, escape_time 2.25, 2.24, 2.29."""
COUNTER_ROUNDS = 32
"""Iterations for each thread from which on a launch takes them from a counter, where nobody asks
for that: a warp takes 32 at a time, and 32 ahead. On an H200 (2026-11-23) loops with 0.3 to 8
iterations a thread were 0.36 to 1.2 times as fast with a counter as the original, 0.53 to 1.03 of
them with a turn of 2500 multiply-additions, one task for each thread of which many were without."""
TUNED_GAIN = 0.02
"""The share of a kernel's time that a version must save to be taken by ``ccc tune``, or by a
``ccc.RawKernel`` that tunes itself; otherwise the kernel stays as it was. Not measured."""
TUNED_VERSIONS = 4
"""Versions of a kernel that tunes itself, ``leave`` and ``auto`` among them, at most. Each takes a
compilation, and calls. Not measured."""
TUNED_CALLS = 3
"""Timed calls of each version before one of them is out. Not measured."""
TUNED_ROUNDS = 10
"""Timed calls of each version after which the best one is taken, however little it is ahead. Not
measured."""
TRIED_NUMBERS: dict[str, Sequence[int]] = {
    "bins": (16, 64, 256),
    "tile": (7,),
    "sub_warp": (4, 16),
    "refill": (8, 16),
    "counter": (COUNTER_LANES,),
}
"""The numbers of a strategy that are tried where versions are measured. Not measured."""
EARLY_PROB = 0.5
"""The share of lanes, as ``prob`` tells, from which on coalesced loads are made before a path that
is served in batches. On an H200 (2026-11-22), time of a late load / time of an early one, one value
and one word of context either way. Floats, 20 and 100 operations behind it, lanes in a pattern: 1
of 32 0.84, 0.89; 8 0.97, 1.02; 24 1.11, 1.07; lanes at random: 0.90, 0.87; 0.98, 1.07; 1.10, 1.07.
By that the rule was made; then, on another kernel, lanes at random, 8, 40 and 120 operations: 32
bits, 8 lanes 0.97, 0.98, 0.99; 16 1.05, 1.02, 1.01; 24 1.10, 1.04, 1.02; 16 bits, 8 lanes 0.95,
0.95, 0.97; 16 1.02, 0.98, 0.99; 24 1.00 each. Few lanes that load early wait for memory in each
iteration, where a full warp would once. In a queue it never paid (0.77 to 1.00; one, two and four
loads, 1 to 24 lanes)."""

MOST_SPILLED = 64
"""Bytes that ptxas may spill and load more than in the original, so that blocks of the same size
can be launched, before what nobody asked for is left alone."""
SPILLED_FOR_WARPS = 80
"""The same, so that as many warps as before have room where lanes share out lists. On an H200
(2026-11-28 and 30), as fast with that room and without it: 292 bytes (ranks of pages) 0.90 and 1.02
(lists alike), 13.0 and 14.6 (few long ones); 252 bytes (normals of vertices) 0.98 and 1.04, 2.2 and
2.3; 240 bytes (spheres by tile) 0.88 and 1.03, 3.9 and 4.1; 180 bytes (a mesh smoothed) 0.91 and
0.98, 1.13 and 1.22; 136 bytes (an independent set) 0.90 and 0.86, 7.7 and 6.0; 112 bytes (triangles
drawn) 1.12 and 1.21, 12.5 and 14.5; 76 bytes (sums along lines) 0.98 and 0.95; 24 bytes (angles)
0.97 and 0.79."""
MUCH_GAINED = 1.8
"""How many times as fast as the original a loop is expected, from which on ptxas takes as many
registers as it likes for it. On an H200 (2026-11-29), of branches, expected with these, and
measured with these and with all warps: values of portfolios 1.6, 0.84 and 1.02; noise 1.5, 1.50 and
1.48; twilight 1.4, 1.47 and 1.45; samples/integral_equation 3.6 (1.87 with a profile), 1.80 and
1.62; distances of words 4.4, 3.29 and 3.20. What is expected of lists tells little: samples/bfs
1.1, 12.4 and 11.5; samples/sssp 1.0, 3.7 and 3.5; a bucket of shortest paths 1.1, 1.63 and 1.90;
ranks of pages 1.0, 1.07 and 1.16; angles of a mesh 1.1, 0.78 and 0.93.
Where nobody tells lanes, or turns of a ``while``, the original's warps are kept all the same, if
nothing is spilled for that. On an H200 (2026-11-30), with as many registers as ptxas likes and so:
numbers of which none may be a prime 0.59 and 0.92, and of which one in eight may be 3.05 and 3.12;
hot pixels, none 0.73 and 0.86, some 1.32 and 1.34; but samples/integral_equation 1.80 and 1.63."""
SPILLED_FOR_MEMORY = 32
"""The same, so that as many warps as before hide what memory takes. On an H200 (2026-11-29), as
fast as the original with the registers that ptxas likes and with that room: values of portfolios
0.84 and 1.02 (0 bytes stored), angles of a mesh 0.78 and 0.93 (8), a bucket of shortest paths 1.63
and 1.80 (20), shocks 1.05 and 1.15 (60); distances of words 3.29 and 3.18 (0), noise 1.50 and 1.48
(0), curves 6.8 and 6.0 (20), clipped polygons 2.76 and 2.60 (28), empty cells 1.47 and 1.28 (40),
particles near others 1.39 and 0.80 (120)."""
SPILLED_GAIN = 1.15
"""How many times as fast as the original a loop has to be expected where ptxas spills less than
that. On an H200 (2026-11-24) samples with 4 to 16 registers less than ptxas likes, bytes spilled
and loaded, and times as fast as without that limit: path_tracing (`merge`) 0, 32, 76 and 180 bytes
0.99, 0.94, 0.90 and 0.86; sssp (`queue`) 0 and 140 bytes 0.99 and 0.97; integral_equation
(`batch7`) 24, 108 and 200 bytes 1.00, 1.00 and 0.96; where more warps have room and wait for memory
quadrature_grid 128 and 252 bytes 1.02 and 1.11, fractal_flame (`merge`) 0, 80 and 388 bytes 1.05,
1.03 and 0.99, u_list (`engage`) 64 bytes 1.04."""
