/* Runs segments for groups of lanes, and all warps in lockstep (schedule.py, simt.py). */

/* Groups ---------------------------------------------------------------------------------------- */

INLINE u32 equal_mask(const s32 *row, s32 code) {
    u8 here[WARP];
    for (s32 k = 0; k < WARP; k++) here[k] = row[k] == code;
    return mask_of(here);
}

INLINE s64 append(s32 *lanes, s64 n, s32 warp, u32 mask) {
    if (mask == ~0u) {
        for (s32 k = 0; k < WARP; k++) lanes[n + k] = warp * WARP + k;
        return n + WARP;
    }
    for (; mask; mask &= mask - 1) lanes[n++] = warp * WARP + __builtin_ctz(mask);
    return n;
}

INLINE int covers(const context *c, s64 k) {
    return !(GET(u32, alive)[GET(s32, warps)[k]] & ~GET(u32, active)[k]);
}

/* Cut a group into parts that are computed at once: warps side by side, all of whose lanes that
   have not ended are there, directly, and the lanes of the others gathered. */
FUNCTION void cut(context *c) {
    const s32 *warps = GET(s32, warps);
    const u32 *active = GET(u32, active);
    span *spans = GET(span, spans);
    s32 *gathered = GET(s32, gathered);
    s64 count = 0, n = 0;
    for (s64 k = 0; k < c->warp_count;) {
        s64 first = k++;
        if (!covers(c, first)) {
            n = append(gathered, n, warps[first], active[first]);
            continue;
        }
        while (k < c->warp_count && k - first < STRIP / WARP && warps[k] == warps[k - 1] + 1
               && covers(c, k))
            k++;
        spans[count++] = (span){warps[first] * WARP, (s32)(k - first) * WARP, (s32)first};
    }
    for (s64 first = 0; first < n; first += STRIP)
        spans[count++] = (span){(s32)first, (s32)(n - first < STRIP ? n - first : STRIP), NOBODY};
    c->span_count = count;
}

FUNCTION void group_of_warps(context *c) {
    const s32 *pc = GET(s32, pc), *warps = GET(s32, warps);
    s32 *lanes = GET(s32, lanes);
    s64 n = 0;
    for (s64 k = 0; k < c->warp_count; k++) {
        u32 mask = equal_mask(pc + (s64)warps[k] * WARP, (s32)c->code);
        GET(u32, active)[k] = mask;
        n = append(lanes, n, warps[k], mask);
    }
    c->n = n;
}

/* The warps of the first ``n`` lanes that are in ``lanes``, ascending. */
FUNCTION void group_of_lanes(context *c, s64 n) {
    s32 *lanes = GET(s32, lanes), *warps = GET(s32, warps);
    u32 *active = GET(u32, active);
    s64 count = 0;
    for (s64 k = 0; k < n; k++) {
        s32 warp = lanes[k] / WARP;
        if (!count || warps[count - 1] != warp) {
            warps[count] = warp;
            active[count++] = 0;
        }
        active[count - 1] |= 1u << lanes[k] % WARP;
    }
    c->n = n;
    c->warp_count = count;
}

/* Operations ------------------------------------------------------------------------------------ */

#define MOVE(type) \
    if (out) \
        for (s64 k = 0; k < n; k++) ((type *)state)[lanes[k]] = ((type *)part)[k]; \
    else \
        for (s64 k = 0; k < n; k++) ((type *)part)[k] = ((type *)state)[lanes[k]];

INLINE void gather_or_scatter(char *state, char *part, s32 size, const s32 *lanes, s64 n, int out) {
    switch (size) {
        case 1: MOVE(u8) break;
        case 2: MOVE(u16) break;
        case 4: MOVE(u32) break;
        default: MOVE(u64)
    }
}

INLINE char *in_scratch(const context *c, s32 place) {
    return GET(char, scratch) + (s64)place * STRIP * 8;
}

FUNCTION void run(context *c, const item *it) {
    const ref *refs = GET(ref, refs) + it->first_ref;
    const op *ops = GET(op, ops) + it->first;
    char **P = GET(char *, pointers), **frame = frame_of(c), **specials = GET(char *, specials);
    for (s64 which = 0; which < c->span_count; which++) {
        const span *part = GET(span, spans) + which;
        int direct = part->warp != NOBODY;
        const s32 *lanes = GET(s32, gathered) + part->base;
        strip s = {(part->n + WARP - 1) / WARP * WARP, part->n,
                   direct ? GET(u32, active) + part->warp : 0, GET(s64, guarded)};
        for (s32 k = 0; k < it->refs; k++) {
            const ref *r = refs + k;
            char *state = r->kind == SPECIAL ? specials[r->index] : 0;
            if (r->kind == STATE) state = frame[r->index];
            if (!state)
                P[k] = r->kind == CONSTANT ? GET(char, constants) + (s64)r->index * STRIP * 8
                                           : in_scratch(c, r->index);
            else if (direct)
                P[k] = state + (s64)part->base * r->size;
            else {
                P[k] = in_scratch(c, r->shadow);
                if (r->use & INPUT) gather_or_scatter(state, P[k], r->size, lanes, part->n, 0);
            }
        }
        for (s32 k = 0; k < it->count; k++) TABLE[ops[k].function](P, ops[k].args, &s);
        if (direct) continue;
        for (s32 k = 0; k < it->refs; k++)
            if (refs[k].kind == STATE && refs[k].use & OUTPUT)
                gather_or_scatter(frame[refs[k].index], P[k], refs[k].size, lanes, part->n, 1);
    }
}

/* Ends of segments ------------------------------------------------------------------------------ */

INLINE int move(context *c, s64 number) {
    s32 *pc = GET(s32, pc), code = (s32)(c->code - c->number + number);
    const s32 *lanes = GET(s32, lanes), *warps = GET(s32, warps);
    if (c->n == c->warp_count * WARP)
        for (s64 k = 0; k < c->warp_count; k++)
            for (s32 i = 0; i < WARP; i++) pc[(s64)warps[k] * WARP + i] = code;
    else
        for (s64 k = 0; k < c->n; k++) pc[lanes[k]] = code;
    c->code = code;
    return MOVED;
}

FUNCTION int branch(context *c, const segment *s) {
    s64 stride, taken = 0, split = 0;
    const u8 *decision = (const u8 *)whole(c, s->decision, &stride);
    const s32 *warps = GET(s32, warps), *lanes = GET(s32, lanes);
    const u32 *active = GET(u32, active);
    if (!stride) return move(c, *decision ? s->taken : s->other);
    for (s64 k = 0; k < c->warp_count; k++) {
        u32 mask = mask_of(decision + (s64)warps[k] * WARP) & active[k];
        taken += __builtin_popcount(mask);
        split += mask && mask != active[k];
    }
    if (!taken || taken == c->n) return move(c, taken ? s->taken : s->other);
    GET(s64, divergent)[c->number] += split;
    s32 base = (s32)(c->code - c->number), *pc = GET(s32, pc);
    for (s64 k = 0; k < c->n; k++)
        pc[lanes[k]] = base + (decision[lanes[k]] ? s->taken : s->other);
    return SPLIT;
}

FUNCTION int leave(context *c) {
    const s32 *lanes = GET(s32, lanes);
    if (c->clock) note_end(c);
    for (s64 k = 0; k < c->n; k++) {
        GET(s32, pc)[lanes[k]] = ENDED;
        GET(u8, present)[lanes[k]] = 0;
    }
    for (s64 k = 0; k < c->warp_count; k++)
        GET(u32, alive)[GET(s32, warps)[k]] &= ~GET(u32, active)[k];
    return SPLIT;
}

FUNCTION int go_back(context *c) {
    const s32 *lanes = GET(s32, lanes), *target = GET(s32 *, returns)[c->depth - 1];
    for (s64 k = 0; k < c->n; k++) GET(s32, pc)[lanes[k]] = target[lanes[k]];
    return SPLIT;
}

FUNCTION int finish(context *c, const segment *s) {
    switch (s->end) {
        case JUMP: return move(c, s->taken);
        case FORK: return branch(c, s);
        case RETURN:
            if (c->depth) return go_back(c);
        /* fall through */
        default: return c->parked ? ENDING : leave(c);
    }
}

/* Steps ----------------------------------------------------------------------------------------- */

FUNCTION int items_from(context *c, s64 first) {
    const segment *s = GET(segment, segments) + c->number;
    for (c->at = first; c->at < s->items; c->at++) {
        const item *it = GET(item, items) + s->first + c->at;
        switch (it->kind) {
            case RUN: run(c, it); break;
            case ACCESS:
                if (!touch(c, GET(access_form, accesses) + it->first)) return PART;
                break;
            case VOTE: vote(c, it); break;
            case SHUFFLE: shuffle(c, it); break;
            case MATCH: match(c, it); break;
            case REDUCE: reduce(c, it); break;
            case ELECT: elect(c, it); break;
            case ACTIVE: active_mask(c, it); break;
            default: return PART;
        }
    }
    return finish(c, s);
}

/* Constants that say where a frame is. */
FUNCTION void place_frame(context *c) {
    const s64 *pairs = GET(s64, frame_constants);
    for (s64 k = 0; k < c->frame_constant_count; k++) {
        u64 *elements = GET(u64, constants) + pairs[2 * k] * STRIP;
        for (s64 i = 0; i < STRIP; i++)
            elements[i] = (u64)(c->depth * c->frame_bytes + pairs[2 * k + 1]);
    }
    c->constants_depth = c->depth;
}

/* Whether a segment can be run at a depth of calls; else what Python must do before. */
INLINE int is_ready(context *c) {
    c->number = c->code % c->segment_count;
    c->depth = c->max_depth - c->code / c->segment_count;
    if (GET(segment, segments)[c->number].end == OTHER) return STEP;
    int has_room = !c->frame_constant_count || (c->depth + 1) * c->frame_bytes <= c->local_size;
    return GET(char **, frames)[c->depth] && has_room ? MOVED : FRAME;
}

INLINE int step(context *c) {
    if (c->depth != c->constants_depth) place_frame(c);
    c->steps++;
    GET(s64, tally_warps)[c->number] += c->warp_count;
    GET(s64, tally_lanes)[c->number] += c->n;
    cut(c);
    const segment *s = GET(segment, segments) + c->number;
    if (c->clock && s->joins) join(c, s);
    return items_from(c, 0);
}

/* Put lanes beside those of the group that wait at its code already. */
FUNCTION void add_waiting(context *c) {
    const s32 *pc = GET(s32, pc), *waits_at = GET(s32, waits_at), *warps = GET(s32, warps);
    u32 *active = GET(u32, active);
    s64 n = 0;
    for (s64 k = 0; k < c->warp_count; k++) {
        const s32 *row = pc + (s64)warps[k] * WARP, *at = waits_at + (s64)warps[k] * WARP;
        active[k] |= equal_mask(row, WAITING) & equal_mask(at, (s32)c->code);
        n = append(GET(s32, lanes), n, warps[k], active[k]);
    }
    c->n = n;
}

/* Whether each warp's lanes name the same members, and themselves among them. */
FUNCTION int agree(const context *c, const char *masks, s64 stride) {
    const s32 *lanes = GET(s32, lanes);
    for (s64 k = 0, n = 0; k < c->warp_count; k++) {
        u32 active = GET(u32, active)[k], mask = *(const u32 *)(masks + stride * lanes[n]);
        if (active & ~mask) return 0;
        for (s64 end = n + __builtin_popcount(active); n < end; n++)
            if (*(const u32 *)(masks + stride * lanes[n]) != mask) return 0;
    }
    return 1;
}

/* Let the lanes wait whose members are not all there; the group has the others. 0 where Python
   must look, and nothing has happened but that lanes which wait are in the group. */
FUNCTION int meet(context *c, const segment *s) {
    s64 stride = 0, n = 0, count = 0;
    u32 all = ~0u, *active = GET(u32, active);
    s32 *pc = GET(s32, pc), *lanes = GET(s32, lanes), *warps = GET(s32, warps);
    if (c->parked) add_waiting(c);
    const char *masks = s->mask < 0 ? (const char *)&all : whole(c, s->mask, &stride);
    if (!agree(c, masks, stride)) return 0;
    if (c->parked)
        for (s64 k = 0; k < c->n; k++) c->parked -= pc[lanes[k]] == WAITING;
    for (s64 k = 0; k < c->warp_count; k++) {
        s32 warp = warps[k];
        u32 here = active[k], first = (u32)warp * WARP + (u32)__builtin_ctz(here);
        u32 missing = *(const u32 *)(masks + stride * first) & GET(u32, alive)[warp] & ~here;
        if (!missing) {
            warps[count] = warp;
            active[count++] = here;
            n = append(lanes, n, warp, here);
            continue;
        }
        c->parked += __builtin_popcount(here);
        for (; here; here &= here - 1) {
            s64 lane = (s64)warp * WARP + __builtin_ctz(here);
            pc[lane] = WAITING;
            GET(s32, waits_at)[lane] = (s32)c->code;
        }
    }
    c->n = n;
    c->warp_count = count;
    return 1;
}

/* The next code of the sweep, and the warps that are there. */
FUNCTION int next_code(context *c) {
    const s32 *home = GET(s32, home), last = (s32)c->last;
    s32 lowest = WAITING, above = WAITING;
    s64 count = c->warps_in_all, n = 0;
    for (s64 k = 0; k < count; k++) {
        s32 code = home[k], later = code > last ? code : WAITING;
        lowest = code < lowest ? code : lowest;
        above = later < above ? later : above;
    }
    s32 code = above < WAITING ? above : lowest, *warps = GET(s32, warps);
    if (code >= WAITING) return 0;
    for (s64 k = 0; k < count; k++)
        if (home[k] == code) warps[n++] = (s32)k;
    c->code = code;
    c->warp_count = n;
    return 1;
}

/* Put a warp into the bucket of its lowest code. */
INLINE void settle_one(context *c, s64 warp) {
    const s32 *row = GET(s32, pc) + warp * WARP;
    s32 lowest = ENDED;
    for (s32 i = 0; i < WARP; i++) lowest = row[i] < lowest ? row[i] : lowest;
    GET(s32, home)[warp] = lowest;
}

FUNCTION void settle(context *c) {
    for (s64 k = 0; k < c->warp_count; k++) settle_one(c, GET(s32, warps)[k]);
    c->pending = 0;
}

/* The same for all that were at a code, where some of them have begun to wait. */
FUNCTION void settle_all(context *c) {
    for (s64 warp = 0; warp < c->warps_in_all; warp++)
        if (GET(s32, home)[warp] == (s32)c->last) settle_one(c, warp);
}

/* Random order: schedule.py ---------------------------------------------------------------------- */

typedef f64 next_double(void *);

INLINE f64 draw_one(const context *c) {
    return GET(next_double, next_double)(GET(void, random_state));
}

INLINE s64 only_first(context *c) {
    GET(s32, chosen)[0] = (s32)c->first;
    return 1;
}

/* Those of the lanes that can run of which one is run next, into ``chosen``: their number, or -1
   where Python must draw who starves. */
FUNCTION s64 among(context *c) {
    const s32 *pc = GET(s32, pc);
    s32 *chosen = GET(s32, chosen);
    s64 n = 0, starving = 0;
    if (c->favour == AHEAD && c->first >= 0 && c->first < c->lanes_in_all
        && c->favour_steps < AHEAD_FOR && pc[c->first] < WAITING) {
        c->favour_steps++;
        return only_first(c);
    }
    for (s64 lane = 0; lane < c->lanes_in_all; lane++) {
        chosen[n] = (s32)lane;
        n += pc[lane] < WAITING;
    }
    if (!n || c->favour == FAVOURED_NOBODY) return n;
    if (c->favour == AHEAD) {
        c->favour_steps++;
        if (c->favour_steps > 2 * AHEAD_FOR) c->first = -1, c->favour_steps = 0;
        if (c->favour_steps > AHEAD_FOR) return n;
        if (c->first < 0 || pc[c->first] >= WAITING)
            c->first = chosen[(s64)(GET(next_double, favour_double)(GET(void, favour_state)) * (f64)n)];
        return only_first(c);
    }
    const u8 *last = GET(u8, starving);
    if (!last) return -1;
    for (s64 k = 0; k < n; k++) starving += last[chosen[k]];
    c->favour_steps++;
    int is_their_turn = starving && c->favour_steps % STARVED_FOR == 0;
    if (!is_their_turn && starving == n) return n;
    s64 kept = 0;
    for (s64 k = 0; k < n; k++) {
        chosen[kept] = chosen[k];
        kept += last[chosen[k]] == is_their_turn;
    }
    return kept;
}

/* The next code, that of ``n`` lanes that can run, and a group of those that are there. */
FUNCTION void draw(context *c, s64 n) {
    const s32 *pc = GET(s32, pc), *running = GET(s32, chosen);
    s32 *lanes = GET(s32, lanes), code = pc[running[0]];
    f64 kind = draw_one(c);
    if (n > 1 && kind >= 0.5)
        code = pc[running[(s64)(kind * 2 * (f64)n) - n]];
    else if (n > 1)
        for (s64 k = 1; k < n; k++) {
            s32 other = pc[running[k]];
            if (kind < 0.25 ? other < code : other > code) code = other;
        }
    s64 there = 0, some = 0;
    for (s64 k = 0; k < n; k++) {
        lanes[there] = running[k];
        there += pc[running[k]] == code;
    }
    f64 how = draw_one(c), splits, *drawn = GET(f64, places);
    memcpy(&splits, &c->splits, 8);
    if (there > 1 && how <= splits) {
        for (s64 k = 0; k < there; k++) drawn[k] = draw_one(c);
        int by_warp = how < splits / 3;
        s32 first = lanes[0];
        for (s64 k = 0, leader = 0; k < there; k++) {
            if (by_warp && lanes[k] / WARP != lanes[leader] / WARP) leader = k;
            if (!by_warp) leader = k;
            GET(s32, gathered)[k] = drawn[leader] < 0.5;
        }
        for (s64 k = 0; k < there; k++) {
            s32 taken = GET(s32, gathered)[k];
            lanes[some] = lanes[k];
            some += taken;
        }
        if (!some) lanes[some++] = first;
        there = some;
    }
    c->code = code;
    group_of_lanes(c, there);
}

/* What Python calls ----------------------------------------------------------------------------- */

int begin(context *c, s64 code, const s64 *lanes, s64 n) {
    c->code = code;
    int ready = is_ready(c);
    if (ready != MOVED) return ready;
    for (s64 k = 0; k < n; k++) GET(s32, lanes)[k] = (s32)lanes[k];
    group_of_lanes(c, n);
    return step(c);
}

int resume(context *c) { return items_from(c, c->at + 1); }

int lockstep(context *c) {
    if (c->pending) settle(c);
    for (s64 work = 0; work < c->budget; work += c->n + 1000) {
        if (!next_code(c)) return FINISHED;
        if (c->steps >= c->limit) return LIMIT;
        int status = is_ready(c);
        if (status == FRAME) return FRAME;
        const segment *s = GET(segment, segments) + c->number;
        c->last = c->code;
        if (status == STEP || s->meets > 1) return STEP;
        group_of_warps(c);
        s64 count = c->warp_count;
        if (s->meets && !meet(c, s)) return STEP;
        if (c->warp_count < count) settle_all(c);
        if (!c->n) continue;
        status = step(c);
        c->pending = 1;
        if (status < MOVED) return status;
        settle(c);
    }
    return PAUSE;
}

/* Any code next, and any of the lanes there, as the generator draws them. */
int shuffled(context *c) {
    for (s64 work = 0; work < c->budget; work += c->n + 1000) {
        if (!c->drawn) {
            s64 n = among(c);
            if (n < 0) return DRAW;
            if (!n) return FINISHED;
            draw(c, n);
        }
        c->drawn = 1;
        if (c->steps >= c->limit) return LIMIT;
        int status = is_ready(c);
        if (status == FRAME) return FRAME;
        c->drawn = 0;
        const segment *s = GET(segment, segments) + c->number;
        if (status == STEP || s->meets > 1 || (s->meets && !meet(c, s))) return STEP;
        if (!c->n) continue;
        status = step(c);
        if (status < MOVED) return status;
    }
    return PAUSE;
}

/* One operation on some lanes, a multiple of a warp: for tests. */
void apply(s32 function, char *const *operands, s64 lanes) {
    static const s32 places[] = {0, 1, 2, 3, 4};
    strip s = {lanes, lanes, 0, 0};
    TABLE[function](operands, places, &s);
}

int identity(void) { return IDENTITY; }
