/* Instructions that look at other lanes of the warp (warp.py). An operand of its own is in each
   lane of the group; results are written for those lanes only. */

#define NOBODY_HOME 0xA5A5A5A5u

enum { BALLOT, ANY, ALL, UNIFORM };
enum { UP, DOWN, BUTTERFLY, INDEX };
enum { TOTAL, LEAST, MOST, EVERY, SOME, PARITY };

/* The operands of an item on whole warps, and where those of one lane are. */
typedef struct {
    char *at[6];
    s64 stride[6];
} operands;

#define OF(type, number, lane) (*(type *)(o.at[number] + (lane) * o.stride[number]))
#define EACH_WARP \
    for (s64 which = 0, first; which < c->warp_count; which++) \
        if ((first = (s64)GET(s32, warps)[which] * WARP, active = GET(u32, active)[which]))
#define EACH_LANE \
    for (u32 rest = active; rest; rest &= rest - 1) \
        for (s64 k = __builtin_ctz(rest), lane = first + k, once = 1; once; once = 0)

INLINE operands operands_of(const context *c, const item *it) {
    operands o = {{0}, {0}};
    for (s32 k = 0; k < it->refs; k++)
        if (it->x[0] >> k & 1) o.at[k] = whole(c, it->first_ref + k, &o.stride[k]);
    return o;
}

FUNCTION void vote(const context *c, const item *it) {
    operands o = operands_of(c, it);
    u32 active;
    EACH_WARP {
        u32 yes = 0;
        EACH_LANE yes |= (u32)OF(u8, 1, lane) << k;
        EACH_LANE {
            u32 members = o.at[2] ? active & OF(u32, 2, lane) : active, mine = yes & members;
            if (it->first == BALLOT) OF(u32, 0, lane) = mine;
            else OF(u8, 0, lane) = it->first == ANY   ? mine != 0
                                   : it->first == ALL ? mine == members
                                                      : mine == members || !mine;
        }
    }
}

FUNCTION void shuffle(const context *c, const item *it) {
    operands o = operands_of(c, it);
    u32 active, values[WARP];
    EACH_WARP {
        EACH_LANE values[k] = OF(u32, 2, lane);
        EACH_LANE {
            s32 own = (s32)k, by = (s32)(OF(u32, 3, lane) & 31);
            u32 c_ = OF(u32, 4, lane), segment = c_ >> 8 & 31, clamp = c_ & 31;
            s32 lowest = (s32)((u32)own & segment), highest = (s32)((u32)lowest | (clamp & ~segment));
            s32 source = it->first == UP          ? own - by
                         : it->first == DOWN      ? own + by
                         : it->first == BUTTERFLY ? own ^ by
                                                  : (s32)((u32)lowest | ((u32)by & ~segment));
            int inside = it->first == UP ? source >= highest : source <= highest;
            if (!inside) source = own;
            u32 present = o.at[5] ? OF(u32, 5, lane) & active : active;
            if (o.at[0]) OF(u32, 0, lane) = present >> source & 1 ? values[source] : NOBODY_HOME;
            if (o.at[1]) OF(u8, 1, lane) = (u8)inside;
        }
    }
}

FUNCTION void match(const context *c, const item *it) {
    operands o = operands_of(c, it);
    u64 values[WARP];
    u32 active;
    int is_wide = it->count, for_all = it->first;
    EACH_WARP {
        EACH_LANE values[k] = is_wide ? OF(u64, 2, lane) : OF(u32, 2, lane);
        EACH_LANE {
            u32 members = OF(u32, 3, lane) & active, same = 0;
            for (u32 other = members; other; other &= other - 1)
                same |= (u32)(values[__builtin_ctz(other)] == values[k]) << __builtin_ctz(other);
            if (o.at[0]) OF(u32, 0, lane) = !for_all || same == members ? same : 0;
            if (o.at[1]) OF(u8, 1, lane) = same == members;
        }
    }
}

INLINE u32 combined(s32 how, int is_signed, u32 a, u32 b) {
    int less = is_signed ? (s32)a < (s32)b : a < b;
    switch (how) {
        case TOTAL: return a + b;
        case LEAST: return less ? a : b;
        case MOST: return less ? b : a;
        case EVERY: return a & b;
        case SOME: return a | b;
        default: return a ^ b;
    }
}

FUNCTION void reduce(const context *c, const item *it) {
    operands o = operands_of(c, it);
    u32 active, values[WARP], neutral = (u32)it->x[1];
    EACH_WARP {
        EACH_LANE values[k] = OF(u32, 1, lane);
        u32 known = 0, result = neutral;
        EACH_LANE {
            u32 members = OF(u32, 2, lane) & active;
            if (members != known) {
                known = members;
                result = neutral;
                for (u32 other = members; other; other &= other - 1)
                    result = combined(it->first, it->count, result, values[__builtin_ctz(other)]);
            }
            OF(u32, 0, lane) = result;
        }
    }
}

FUNCTION void elect(const context *c, const item *it) {
    operands o = operands_of(c, it);
    u32 active;
    EACH_WARP EACH_LANE {
        u32 members = OF(u32, 2, lane) & active;
        u32 leader = members ? (u32)__builtin_ctz(members) : 32;
        if (o.at[0]) OF(u32, 0, lane) = leader;
        if (o.at[1]) OF(u8, 1, lane) = leader == (u32)k;
    }
}

FUNCTION void active_mask(const context *c, const item *it) {
    operands o = operands_of(c, it);
    u32 active;
    EACH_WARP EACH_LANE OF(u32, 0, lane) = active;
}
