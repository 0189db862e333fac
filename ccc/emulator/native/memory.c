/* Loads, stores and atomics of a group of lanes, with their checks and costs (memory.py).

   What is at fault, or rare, is left to Python: nothing has happened then. */

#define WINDOW_BITS 40
#define SHARED_TAG 0x7Dull
#define LOCAL_TAG 0x7Eull
#define PARAM_TAG 0x7Cull
#define GLOBAL_START (0x7Full << WINDOW_BITS)

INLINE char **frame_of(const context *c) { return GET(char **, frames)[c->depth]; }

/* Where an operand is, of which a whole group needs all lanes, and the bytes between two. */
INLINE char *whole(const context *c, s32 number, s64 *stride) {
    const ref *r = GET(ref, refs) + number;
    *stride = r->kind == CONSTANT ? 0 : r->size;
    if (r->kind == CONSTANT) return GET(char, constants) + (s64)r->index * STRIP * 8;
    return r->kind == SPECIAL ? GET(char *, specials)[r->index] : frame_of(c)[r->index];
}

/* An access on its way. ``at`` are positions in ``data``; ``written`` has flags for each byte. */
typedef struct {
    const s32 *lanes;
    s64 n, bytes;
    s64 *at;
    char *data, *written;
    s32 space, how;
} way;

/* The lanes for which the guard holds. */
FUNCTION s64 choose(const context *c, const access_form *f, s32 *chosen) {
    s64 stride, n = 0;
    const u8 *guard = (const u8 *)whole(c, f->guard, &stride);
    const s32 *lanes = GET(s32, lanes);
    for (s64 k = 0; k < c->n; k++) {
        chosen[n] = lanes[k];
        n += guard[lanes[k] * stride] != f->negated;
    }
    return n;
}

/* Addresses, and whether they are aligned and in one window; their least and their greatest. */
INLINE int addresses(const context *c, const access_form *f, way *w, u64 *least, u64 *most) {
    s64 stride;
    const char *from = whole(c, f->address, &stride);
    int is_wide = GET(ref, refs)[f->address].size == 8;
    u64 all = 0, low = ~0ull, high = 0, *at = (u64 *)w->at;
    if (is_wide)
        for (s64 k = 0; k < w->n; k++)
            at[k] = *(const u64 *)(from + w->lanes[k] * stride) + (s64)f->offset;
    else
        for (s64 k = 0; k < w->n; k++)
            at[k] = *(const u32 *)(from + w->lanes[k] * stride) + (u32)f->offset;
    for (s64 k = 0; k < w->n; k++) {
        all |= at[k];
        low = at[k] < low ? at[k] : low;
        high = at[k] > high ? at[k] : high;
    }
    *least = low;
    *most = high;
    return !(all & (u64)(w->bytes - 1));
}

/* The stretch of global memory that begins at or before a place. */
INLINE s64 stretch_of(const context *c, s64 place) {
    const s64 *starts = GET(s64, starts);
    s64 low = 0, high = c->stretches;
    while (low < high) {
        s64 middle = (low + high) / 2;
        if (starts[middle] <= place) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

FUNCTION int in_arena(const context *c, way *w, u64 least, u64 most) {
    const s64 *starts = GET(s64, starts), *ends = GET(s64, ends);
    s64 low = (s64)(least - GLOBAL_START), high = (s64)(most - GLOBAL_START);
    if (least < GLOBAL_START || most >> 60) return 0;
    s64 owner = stretch_of(c, low);
    if (owner < 0) return 0;
    int is_one = high + w->bytes <= ends[owner];
    for (s64 k = 0; k < w->n; k++) w->at[k] -= (s64)GLOBAL_START;
    w->data = GET(char, arena);
    if (is_one) return 1;
    for (s64 k = 0; k < w->n; k++) {
        s64 place = w->at[k];
        if (place < starts[owner] || place + w->bytes > ends[owner]) {
            owner = stretch_of(c, place);
            if (owner < 0 || place + w->bytes > ends[owner]) return 0;
        }
    }
    return 1;
}

FUNCTION int in_shared(const context *c, way *w, u64 most) {
    const s64 *block = GET(s64, block_of_lane);
    if (most >> WINDOW_BITS || (s64)most + w->bytes > c->shared_size) return 0;
    for (s64 k = 0; k < w->n; k++) w->at[k] += block[w->lanes[k]] * c->shared_stride;
    w->data = GET(char, shared);
    w->written = GET(char, shared_written);
    return 1;
}

FUNCTION int in_local(const context *c, way *w, u64 most) {
    if (w->bytes > 16 || most >> WINDOW_BITS || (s64)most + w->bytes > c->local_size) return 0;
    for (s64 k = 0; k < w->n; k++)
        w->at[k] = (((w->at[k] >> 4) * c->lanes_in_all + w->lanes[k]) << 4) + (w->at[k] & 15);
    w->data = GET(char, local);
    w->written = GET(char, local_written);
    return 1;
}

/* Find the space of generic addresses; they become addresses in it. */
FUNCTION int space_of(way *w, u64 *least, u64 *most) {
    u64 tag = *least >> WINDOW_BITS;
    if (tag != *most >> WINDOW_BITS || tag == PARAM_TAG) return GENERIC;
    if (tag != SHARED_TAG && tag != LOCAL_TAG) return IN_GLOBAL;
    u64 inside = (1ull << WINDOW_BITS) - 1;
    for (s64 k = 0; k < w->n; k++) w->at[k] &= (s64)inside;
    *least &= inside;
    *most &= inside;
    return tag == SHARED_TAG ? IN_SHARED : IN_LOCAL;
}

#define ALL_WRITTEN(type) \
    for (s64 k = 0; k < w->n; k++) \
        for (s64 element = 0; element < count; element++) \
            missing |= !((const type *)(w->written + w->at[k]))[element];

/* Whether some byte of each element was written. */
FUNCTION int are_written(const way *w, s64 size, s64 count) {
    int missing = 0;
    switch (size) {
        case 1: ALL_WRITTEN(u8) break;
        case 2: ALL_WRITTEN(u16) break;
        case 4: ALL_WRITTEN(u32) break;
        default: ALL_WRITTEN(u64)
    }
    return !missing;
}

/* Costs: traffic.py ------------------------------------------------------------------------------ */

/* The number of lanes from the first on that are in its warp. */
INLINE s64 of_one_warp(const s32 *lanes, s64 n) {
    s64 count = 1, most = n < WARP ? n : WARP;
    if (n >= WARP && lanes[WARP - 1] - lanes[0] == WARP - 1 && lanes[0] % WARP == 0) return WARP;
    while (count < most && lanes[count] / WARP == lanes[0] / WARP) count++;
    return count;
}

/* How many of the values differ from all before them. */
INLINE s64 distinct(const s64 *values, s64 n) {
    s64 seen[WARP], count = 0;
    for (s64 k = 0; k < n; k++) {
        int is_new = 1;
        for (s64 i = 0; i < count; i++) is_new &= seen[i] != values[k];
        seen[count] = values[k];
        count += is_new;
    }
    return count;
}

FUNCTION s64 sectors(const way *w) {
    s64 total = 0;
    for (s64 k = 0, n; k < w->n; k += n) {
        n = of_one_warp(w->lanes + k, w->n - k);
        s64 values[WARP], changes = 1, falls = 0;
        for (s64 i = 0; i < n; i++) values[i] = w->at[k + i] >> 5;
        for (s64 i = 1; i < n; i++) {
            changes += values[i] != values[i - 1];
            falls += values[i] < values[i - 1];
        }
        total += falls ? distinct(values, n) : changes;
    }
    return total;
}

/* Wavefronts beyond the first that the lanes of a row need: the most words that one bank has. */
INLINE s64 row_conflicts(const u64 *words, s64 n) {
    u8 in_bank[32] = {0};
    u64 seen[WARP];
    s64 count = 0, most = 0;
    for (s64 k = 0; k < n; k++) {
        int is_new = 1;
        for (s64 i = 0; i < count; i++) is_new &= seen[i] != words[k];
        seen[count] = words[k];
        count += is_new;
        s64 now = in_bank[words[k] & 31] += (u8)is_new;
        most = now > most ? now : most;
    }
    return most > 0 ? most - 1 : 0;
}

FUNCTION s64 conflicts(const way *w) {
    s64 total = 0, width = w->bytes < 8 ? 1 : w->bytes / 4, share = WARP / width;
    for (s64 k = 0, n; k < w->n; k += n) {
        n = of_one_warp(w->lanes + k, w->n - k);
        s64 apart = 0, differ = 0;
        for (s64 i = 1; i < n; i++) {
            s64 by = w->at[k + i] - w->at[k + i - 1];
            apart |= by ^ w->bytes;
            differ |= by;
        }
        if (!apart || !differ) continue;
        for (s64 i = 0; i < n;) {
            u64 words[WARP];
            s64 count = 0, row = w->lanes[k + i] % WARP / share;
            for (; i < n && w->lanes[k + i] % WARP / share == row; i++)
                for (s64 part = 0; part < width; part++)
                    words[count++] = (u64)(w->at[k + i] >> 2) + (u64)part;
            total += row_conflicts(words, count);
        }
    }
    return total;
}

/* Actions ---------------------------------------------------------------------------------------- */

#define EACH for (s64 k = 0; k < w->n; k++)
#define LOADS(type) EACH *(type *)(to + w->lanes[k] * stride) = *(type *)(data + w->at[k]);
#define STORES(type) EACH *(type *)(data + w->at[k]) = *(type *)(from + w->lanes[k] * stride);

FUNCTION void load(const context *c, const access_form *f, const way *w) {
    for (s64 element = 0; element < f->count; element++) {
        s64 stride;
        char *to = whole(c, f->first_result + (s32)element, &stride);
        const char *data = w->data + element * f->size;
        switch (f->size) {
            case 1: LOADS(u8) break;
            case 2: LOADS(u16) break;
            case 4: LOADS(u32) break;
            default: LOADS(u64)
        }
    }
}

FUNCTION void store(const context *c, const access_form *f, const way *w) {
    for (s64 element = 0; element < f->count; element++) {
        s64 stride;
        const char *from = whole(c, f->first_value + (s32)element, &stride);
        char *data = w->data + element * f->size;
        switch (f->size) {
            case 1: STORES(u8) break;
            case 2: STORES(u16) break;
            case 4: STORES(u32) break;
            default: STORES(u64)
        }
    }
    if (!w->written) return;
    if (f->size * f->count == 4) EACH *(u32 *)(w->written + w->at[k]) = ~0u;
    else EACH memset(w->written + w->at[k], 0xFF, (size_t)(f->size * f->count));
}

enum { ADD, EXCH, CAS, MIN, MAX, AND, OR, XOR, INC, DEC, ADD_FLUSHED };

INLINE f32 sum_f32(f32 a, f32 b) {
    if (a != a) return float_f32(bits_f32(a) | 1u << 22);
    return b != b ? float_f32(bits_f32(b) | 1u << 22) : a + b;
}
INLINE f64 sum_f64(f64 a, f64 b) { return first_nan(a, b, a + b); }

#define UPDATE(type) \
    INLINE type update_##type(s32 how, type old, type a, type b) { \
        switch (how) { \
            case ADD: return old + a; \
            case EXCH: return a; \
            case CAS: return old == a ? b : old; \
            case MIN: return old < a ? old : a; \
            case MAX: return old > a ? old : a; \
            case AND: return old & a; \
            case OR: return old | a; \
            case XOR: return old ^ a; \
            case INC: return old >= a ? 0 : old + 1; \
            default: return old == 0 || old > a ? a : old - 1; \
        } \
    }
UPDATE(u32)
UPDATE(s32)
UPDATE(u64)
UPDATE(s64)
INLINE f32 update_f32(s32 how, f32 old, f32 a, f32 b) {
    (void)b;
    if (how == ADD_FLUSHED) return flush(sum_f32(flush(old), flush(a)));
    return how == ADD ? sum_f32(old, a) : a;
}
#define update_f64(how, old, a, b) ((how) == ADD ? sum_f64(old, a) : (a))

/* Lane after lane. */
#define ATOMICS(type) \
    FUNCTION void atomic_##type(const context *c, const access_form *f, const way *w) { \
        s64 stride_a, stride_b = 0, stride = 0; \
        const char *a = whole(c, f->first_value, &stride_a), *b = a; \
        if (f->operation == CAS) b = whole(c, f->first_value + 1, &stride_b); \
        char *to = f->has_result ? whole(c, f->first_result, &stride) : 0; \
        EACH { \
            s64 lane = w->lanes[k]; \
            type *cell = (type *)(w->data + w->at[k]), old = *cell; \
            type x = *(const type *)(a + lane * stride_a), y = *(const type *)(b + lane * stride_b); \
            (void)y; \
            *cell = update_##type(w->how, old, x, y); \
            if (to) *(type *)(to + lane * stride) = old; \
        } \
    }
ATOMICS(u32)
ATOMICS(s32)
ATOMICS(u64)
ATOMICS(s64)
ATOMICS(f32)
ATOMICS(f64)

FUNCTION void atomic(const context *c, const access_form *f, const way *w) {
    static void (*const all[])(const context *, const access_form *, const way *) = {
        atomic_u32, atomic_s32, atomic_f32, atomic_u64, atomic_s64, atomic_f64};
    all[f->kind + (f->size == 8 ? 3 : 0)](c, f, w);
}

FUNCTION int note(context *c, const access_form *f, const way *w);
FUNCTION void synchronise(const context *c, const access_form *f, const way *w);

/* Do an access, if it is good. */
FUNCTION int touch(context *c, const access_form *f) {
    way w = {GET(s32, lanes), c->n, (s64)f->size * f->count, GET(s64, places), 0, 0, f->space, f->operation};
    u64 least, most;
    if (f->guard >= 0) {
        w.n = choose(c, f, GET(s32, chosen));
        w.lanes = GET(s32, chosen);
        if (!w.n) return 1;
    }
    if (f->method == ATOMIC && c->mixes_atomics && w.n > 1) return 0;
    if (!addresses(c, f, &w, &least, &most)) return 0;
    if (w.space == GENERIC) w.space = space_of(&w, &least, &most);
    int good = w.space == IN_SHARED ? in_shared(c, &w, most)
               : w.space == IN_LOCAL ? in_local(c, &w, most)
               : w.space != GENERIC && in_arena(c, &w, least, most);
    if (!good) return 0;
    if (w.written && f->method != STORE && !are_written(&w, f->size, f->count)) return 0;
    if (c->clock && !note(c, f, &w)) return 0;
    s64 *traffic = f->method == LOAD ? GET(s64, loads) : GET(s64, stores);
    if (w.space == IN_GLOBAL) traffic[f->slot] += sectors(&w);
    if (w.space == IN_SHARED) GET(s64, conflicts)[f->slot] += conflicts(&w);
    int is_f32 = f->kind == 2 && f->size == 4;
    if (is_f32 && w.how == ADD && w.space == IN_GLOBAL) w.how = ADD_FLUSHED;
    switch (f->method) {
        case LOAD: load(c, f, &w); break;
        case STORE: store(c, f, &w); break;
        default: atomic(c, f, &w);
    }
    int is_judged = c->clock && (w.space == IN_SHARED || w.space == IN_GLOBAL);
    if (is_judged && f->is_strong) synchronise(c, f, &w);
    return 1;
}
