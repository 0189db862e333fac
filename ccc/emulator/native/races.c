/* What lanes of a warp do to one another's bytes, as far as it is in order (run/races.py).

   A lane has a clock for each lane of its warp. Of each byte of a space ``shadow`` has the last
   write and the reads since then. An access that may be in no order is left to Python, which judges
   it: nothing has been noted then. ``noted`` tells who noted a byte in the same instruction. */

typedef struct {
    s32 *writer;
    u32 *written;
    s32 *write_slot, *reading_warp;
    u32 *read;
    s32 *read_slot;
    u32 *noted;
} shadow;

INLINE u32 *clocks_of(const context *c, s64 lane) { return GET(u32, clock) + lane * WARP; }
INLINE u32 *clock_of(const context *c, s64 lane) { return clocks_of(c, lane) + lane % WARP; }

INLINE void learn(u32 *mine, const u32 *other) {
    for (s64 k = 0; k < WARP; k++) mine[k] = other[k] > mine[k] ? other[k] : mine[k];
}

/* Whether a lane has seen all that others of its warp did to a byte, or that is no conflict, since
   both are strong. */
INLINE int is_ordered(
    const context *c, const access_form *f, const shadow *s, s64 byte, s32 lane
) {
    const u32 *mine = clocks_of(c, lane), *read = s->read + byte * WARP;
    const u8 *strong = GET(u8, strong);
    s32 writer = s->writer[byte], warp = lane / WARP;
    if (writer >= 0 && writer / WARP == warp && writer != lane
        && s->written[byte] > mine[writer % WARP]
        && !(f->is_strong && strong[s->write_slot[byte]]))
        return 0;
    if (f->method == LOAD || s->reading_warp[byte] != warp) return 1;
    u8 ahead[WARP];
    for (s64 k = 0; k < WARP; k++) ahead[k] = read[k] > mine[k];
    u32 readers = mask_of(ahead) & ~(1u << lane % WARP);
    if (!f->is_strong) return !readers;
    for (; readers; readers &= readers - 1)
        if (!strong[s->read_slot[byte * WARP + __builtin_ctz(readers)]]) return 0;
    return 1;
}

/* Whether lanes of one warp are at one place. */
FUNCTION int share_places(const way *w) {
    for (s64 k = 0, n; k < w->n; k += n) {
        int ascends = 1;
        n = of_one_warp(w->lanes + k, w->n - k);
        for (s64 i = 1; i < n; i++) ascends &= w->at[k + i] > w->at[k + i - 1];
        if (!ascends && distinct(w->at + k, n) < n) return 1;
    }
    return 0;
}

/* From the last warp on, since of several that read a byte at once the last one stays. */
INLINE void note_loads(context *c, const access_form *f, const way *w, const shadow *s) {
    u32 now = (u32)++c->noted;
    for (s64 k = w->n; k-- > 0;) {
        s32 lane = w->lanes[k], warp = lane / WARP;
        u32 clock = *clock_of(c, lane);
        for (s64 byte = w->at[k]; byte < w->at[k] + w->bytes; byte++) {
            if (s->reading_warp[byte] != warp) {
                if (s->noted[byte] == now) continue;
                s->reading_warp[byte] = warp;
                memset(s->read + byte * WARP, 0, WARP * sizeof(u32));
            }
            s->noted[byte] = now;
            s->read[byte * WARP + lane % WARP] = clock;
            s->read_slot[byte * WARP + lane % WARP] = f->slot;
        }
    }
}

INLINE void note_stores(const context *c, const access_form *f, const way *w, const shadow *s) {
    EACH for (s64 byte = w->at[k]; byte < w->at[k] + w->bytes; byte++) {
        s->writer[byte] = w->lanes[k];
        s->written[byte] = *clock_of(c, w->lanes[k]);
        s->write_slot[byte] = f->slot;
        s->reading_warp[byte] = NOBODY;
    }
}

/* Whether the table of what strong accesses left has a place for each of some more. */
INLINE int has_room(const context *c, const way *w) {
    return 2 * (*GET(s64, left_count) + w->n) <= c->left_size;
}

/* The place in that table for an address and a warp. */
INLINE s64 left_by(const context *c, const way *w, s64 k, s64 *key) {
    const s64 *keys = GET(s64, left_keys);
    s64 last = c->left_size - 1;
    *key = w->at[k] << 23 | (s64)(w->lanes[k] / WARP) << 1 | (w->space == IN_SHARED);
    s64 at = (s64)((u64)*key * 0x9E3779B97F4A7C15ull >> 40) & last;
    while (keys[at] >= 0 && keys[at] != *key) at = (at + 1) & last;
    return at;
}

/* Strong accesses pass on what their lanes know, one after the other. */
FUNCTION void synchronise(const context *c, const access_form *f, const way *w) {
    EACH {
        s64 key, at = left_by(c, w, k, &key), *known = GET(s64, left_keys) + at;
        u32 *mine = clocks_of(c, w->lanes[k]), *left = GET(u32, left_clocks) + at * WARP;
        if (f->method != STORE && *known == key) learn(mine, left);
        if (f->method == LOAD) continue;
        *GET(s64, left_count) += *known != key;
        *known = key;
        learn(left, mine);
    }
    if (f->method != LOAD) EACH ++*clock_of(c, w->lanes[k]);
}

/* Note an access, if it is in order. */
FUNCTION int note(context *c, const access_form *f, const way *w) {
    int writes = f->method != LOAD;
    const shadow *s = w->space == IN_SHARED ? GET(shadow, shared_shadow) : GET(shadow, global_shadow);
    if (w->space != IN_SHARED && w->space != IN_GLOBAL) return 1;
    if (f->is_strong ? !has_room(c, w) : writes && share_places(w)) return 0;
    EACH for (s64 byte = w->at[k]; byte < w->at[k] + w->bytes; byte++)
        if (!is_ordered(c, f, s, byte, w->lanes[k])) return 0;
    if (writes) note_stores(c, f, w, s);
    else note_loads(c, f, w, s);
    return 1;
}

/* Lanes of a warp that name the same members have met: each learns all that they know, and what
   those did that have ended. */
FUNCTION void join(const context *c, const segment *s) {
    s64 stride = 0;
    u32 all = ~0u;
    const char *masks = s->mask < 0 ? (const char *)&all : whole(c, s->mask, &stride);
    for (s64 k = 0; k < c->warp_count; k++) {
        s64 base = (s64)GET(s32, warps)[k] * WARP;
        for (u32 left = GET(u32, active)[k], met; left; left &= ~met) {
            u32 mask = *(const u32 *)(masks + stride * (base + __builtin_ctz(left)));
            u32 joined[WARP];
            memcpy(joined, GET(u32, ended) + base, sizeof joined);
            met = 0;
            for (u32 rest = left; rest; rest &= rest - 1) {
                s64 lane = base + __builtin_ctz(rest);
                if (*(const u32 *)(masks + stride * lane) != mask) continue;
                met |= rest & -rest;
                learn(joined, clocks_of(c, lane));
            }
            for (u32 rest = met; rest; rest &= rest - 1) {
                s64 lane = base + __builtin_ctz(rest);
                memcpy(clocks_of(c, lane), joined, sizeof joined);
                ++*clock_of(c, lane);
            }
        }
    }
}

/* Who meets without the lanes of the group from now on comes after all that they did. */
FUNCTION void note_end(const context *c) {
    const s32 *lanes = GET(s32, lanes);
    for (s64 k = 0; k < c->n; k++)
        learn(GET(u32, ended) + lanes[k] / WARP * WARP, clocks_of(c, lanes[k]));
}
