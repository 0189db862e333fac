/* An encoded program (encode.py), and the state of a wave that runs it (wave.py). */

enum { CONSTANT, STATE, SCRATCH, SPECIAL };            /* where an operand is */
enum { INPUT = 1, OUTPUT = 2 };                        /* what becomes of it in a run */
enum { RUN, ACCESS, PYTHON, VOTE, SHUFFLE, MATCH, REDUCE, ELECT, ACTIVE };             /* items */
enum { JUMP, FORK, LEAVE, RETURN, TABLE_JUMP, OTHER }; /* ends of segments */
enum { LOAD, STORE, ATOMIC };
enum { IN_GLOBAL, IN_SHARED, IN_LOCAL, IN_CONST, GENERIC };
enum { FINISHED, STEP, PART, FRAME, LIMIT, PAUSE, DRAW, ENDING, MOVED, SPLIT }; /* what Python is told */

#define WAITING (INT32_MAX - 1)
#define ENDED INT32_MAX
#define NOBODY (-1)

/* What a frame holds is in ``frames[depth][index]``, an array over all lanes. ``shadow`` is the
   place in the scratch of a part of it that is gathered, where the lanes are not side by side. */
typedef struct { s32 kind, index, size, use, shadow; } ref;
typedef struct { s32 function, args[7]; } op;
typedef struct { s32 kind, first, count, first_ref, refs; s32 x[5]; } item;
typedef struct { s32 first, items, end, taken, other, decision, meets, mask, joins; } segment;
typedef struct {
    s32 method, space, size, count, operation, slot, guard, negated, address, has_result;
    s32 offset, first_value, first_result, kind, is_strong;
} access_form;

typedef struct { s32 base, n, warp; } span; /* ``warp`` is NOBODY where lanes are gathered */

#define GET(type, field) ((type *)(intptr_t)c->field)
#define FUNCTION static __attribute__((noinline))

enum { FAVOURED_NOBODY, STARVED, AHEAD }; /* schedule.py */
#define STARVED_FOR 48
#define AHEAD_FOR 200
