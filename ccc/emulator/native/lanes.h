/* Elements of registers, and what operations on them share.

   All of it gives, bit for bit, what ccc/emulator/semantics gives with NumPy. */

#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;
typedef float f32;
typedef double f64;
typedef u8 pred;

#define STRIP 256 /* lanes that are computed at once, so that registers stay in the cache */
#define WARP 32

/* Some lanes of a group. ``lanes`` of them are computed, a multiple of a warp; ``real`` are there:
   the first ones, or those of ``active``, a mask for each 32. */
typedef struct {
    s64 lanes, real;
    const u32 *active;
    s64 *guarded;
} strip;

/* P has where the registers' elements begin, A which of them the operands are. */
typedef void (*operation)(char *const *P, const s32 *A, const strip *s);

#define OPERATION(name) static void name(char *const *P, const s32 *A, const strip *s)
#define LANES \
    for (s64 first = 0, count = s->lanes; first < count; first += WARP) \
        _Pragma("GCC ivdep") for (s64 k = 0; k < WARP; k++)
#define INLINE static inline __attribute__((always_inline))

INLINE u32 bits_f32(f32 x) { u32 b; memcpy(&b, &x, 4); return b; }
INLINE f32 float_f32(u32 b) { f32 x; memcpy(&x, &b, 4); return x; }
INLINE u64 bits_f64(f64 x) { u64 b; memcpy(&b, &x, 8); return b; }
INLINE f64 float_f64(u64 b) { f64 x; memcpy(&x, &b, 8); return x; }

/* Rounding and NaNs: rounding.py */

INLINE f32 flush(f32 x) {
    u32 b = bits_f32(x);
    return float_f32(b & 0x7F800000u ? b : b & 0x80000000u);
}
INLINE f32 canonical_f32(f32 x) { return float_f32(x == x ? bits_f32(x) : 0x7FFFFFFFu); }
INLINE f64 canonical_f64(f64 x) { return x; }
INLINE f32 saturate(f32 x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
INLINE f32 quiet_f32(f32 x) { return x; }
INLINE f64 quiet_f64(f64 x) { return float_f64(bits_f64(x) | (u64)1 << 51); }
INLINE f64 quiet(f64 x) { return float_f64(bits_f64(x) | (u64)1 << 51); }

/* Which NaN is the result, whatever the compiler does to the operands' order: that of the first. */
INLINE f64 first_nan(f64 a, f64 b, f64 result) {
    return a != a ? quiet(a) : b != b ? quiet(b) : result;
}
INLINE f64 both_nan(f64 a, f64 b, f64 result) { return a != a && b != b ? quiet(b) : result; }
INLINE f32 cut_nan(f64 a, f32 result) {
    u64 b = bits_f64(a);
    u32 nan = (u32)(b >> 63) << 31 | 0x7FC00000u | ((u32)(b >> 29) & 0x7FFFFFu);
    return float_f32(a != a ? nan : bits_f32(result));
}
INLINE f32 fmaf(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
INLINE f64 fused(f64 a, f64 b, f64 c) {
    return b != b ? quiet(b) : first_nan(c, a, __builtin_fma(a, b, c));
}
INLINE f64 flushed_f64(f64 x) {
    u64 b = bits_f64(x), sign = (u64)1 << 63;
    return float_f64(b & 0x7FFull << 52 ? b : b & sign);
}

/* Directed rounding: from the nearest value and the sign of what it misses. */
enum { RZ, RM, RP, RN };
INLINE f32 next_f32(f32 x, int up) {
    u32 b = bits_f32(x), sign = b >> 31;
    u32 beyond = up != (int)sign ? b + 1 : b - 1;
    if (!(b << 1)) beyond = up ? 1 : 0x80000001u;
    return float_f32(x != x || b == (up ? 0x7F800000u : 0xFF800000u) ? b : beyond);
}
INLINE f32 directed(f32 nearest, f64 error, int mode) {
    int up = error > 0 && (mode == RP || (mode == RZ && nearest < 0));
    int down = error < 0 && (mode == RM || (mode == RZ && nearest > 0));
    return up ? next_f32(nearest, 1) : down ? next_f32(nearest, 0) : nearest;
}
INLINE f32 narrow(f64 x, int mode) {
    f32 nearest = (f32)x;
    return directed(nearest, x - (f64)nearest, mode);
}
/* A double made odd where its last bit misses something. */
INLINE f64 make_odd(f64 x, f64 error) {
    s64 b = (s64)bits_f64(x);
    int inexact = (error > 0 || error < 0) && !(b & 1) && x - x == 0;
    s64 by = (error > 0) == (x > 0) ? 1 : -1;
    return float_f64((u64)(inexact ? b + by : b));
}
/* What is normal only since the range of subnormal numbers is coarse is flushed, too. */
INLINE f32 not_lifted(f32 result, f64 exact, int mode) {
    f32 larger = __builtin_fabsf(narrow(exact * 0x1p64, mode));
    int lifted = __builtin_fabsf(result) == 0x1p-126f && larger < 0x1p-62f;
    return flush(lifted ? __builtin_copysignf(0, result) : result);
}
INLINE f64 exact_fused(f64 a, f64 b, f64 c) {
    f64 product = a * b, total = product + c, back = total - product;
    return make_odd(total, (product - (total - back)) + (c - back));
}
INLINE f64 upper_half(f64 x) { return float_f64(bits_f64(x) & 0xFFFFFFFF00000000ull); }
INLINE f32 fused_f32(f64 a, f64 b, f64 c, int mode) {
    f64 product = a * b, total = product + c, back = total - product;
    f64 error = (product - (total - back)) + (c - back);
    f32 result = narrow(make_odd(total, error), mode);
    int cancels = total == 0 && (bits_f64(product) | bits_f64(c)) >> 63;
    return mode == RM && cancels ? -__builtin_fabsf(result) : result;
}

INLINE f32 square_root_f32(f32 x) { return __builtin_sqrtf(x); }
INLINE f64 square_root_f64(f64 x) { return __builtin_sqrt(x); }

/* A number beats NaN, and -0 is less than +0. */
#define EXTREMES(f, u) \
    INLINE f least_##f(f a, f b) { \
        f pick = a <= b || b != b ? a : b; \
        return a == b ? float_##f(bits_##f(a) | bits_##f(b)) : pick; \
    } \
    INLINE f most_##f(f a, f b) { \
        f pick = a >= b || b != b ? a : b; \
        return a == b ? float_##f(bits_##f(a) & bits_##f(b)) : pick; \
    } \
    INLINE f either_nan_##f(f a, f b, f result) { \
        return b != b ? quiet_##f(b) : a != a ? quiet_##f(a) : result; \
    }
EXTREMES(f32, u32)
EXTREMES(f64, u64)

/* Integers: integer.py, bits.py, logic.py */

#define QUOTIENT(bits) \
    INLINE s##bits quotient##bits(s##bits a, s##bits b) { \
        u##bits x = a < 0 ? 0 - (u##bits)a : (u##bits)a, y = b < 0 ? 0 - (u##bits)b : (u##bits)b; \
        u##bits q = y ? x / y : (u##bits)~(u##bits)0; \
        return (s##bits)((a < 0) != (b < 0) && b ? 0 - q : q); \
    }
QUOTIENT(16)
QUOTIENT(32)
QUOTIENT(64)

/* A position or length of a field: of 32 bits, only its lowest 8 bits count. */
INLINE u32 clip32(u32 x) { return (x & 255) < 32 ? x & 255 : 32; }
INLINE u32 clip64(u32 x) { return x < 64 ? x : 64; }

#define FIELDS(bits, clz) \
    INLINE u##bits ones##bits(u32 count) { \
        return count >= bits ? ~(u##bits)0 : ((u##bits)1 << count) - 1; \
    } \
    INLINE u##bits above##bits(u##bits x, u32 by) { return by >= bits ? 0 : x << by; } \
    INLINE u##bits below##bits(u##bits x, u32 by) { return by >= bits ? 0 : x >> by; } \
    INLINE u##bits field##bits(u##bits a, u32 position, u32 length, int is_signed) { \
        position = clip##bits(position); \
        length = clip##bits(length); \
        u32 room = bits - position; \
        u##bits mask = ones##bits(length < room ? length : room); \
        u##bits field = below##bits(a, position) & mask; \
        u32 top = position + length - 1; \
        top = top < bits - 1 ? top : bits - 1; \
        int negative = is_signed && length && (a >> top & 1); \
        return negative ? field | ~mask : field; \
    } \
    INLINE u##bits insert##bits(u##bits a, u##bits b, u32 position, u32 length) { \
        position = clip##bits(position); \
        u##bits mask = above##bits(ones##bits(clip##bits(length)), position); \
        return (b & ~mask) | (above##bits(a, position) & mask); \
    } \
    INLINE u32 highest##bits(u##bits x, u32 top) { return top - (u32)clz(x | 1); } \
    INLINE u##bits reverse##bits(u##bits x) { \
        const u##bits fives = (u##bits)0x5555555555555555ull, threes = (u##bits)0x3333333333333333ull; \
        const u##bits nibbles = (u##bits)0x0F0F0F0F0F0F0F0Full; \
        x = (x >> 1 & fives) | (x & fives) << 1; \
        x = (x >> 2 & threes) | (x & threes) << 2; \
        x = (x >> 4 & nibbles) | (x & nibbles) << 4; \
        return __builtin_bswap##bits(x); \
    }
FIELDS(32, __builtin_clz)
FIELDS(64, __builtin_clzll)

INLINE u32 by_table(u32 a, u32 b, u32 c, u32 table) {
    u32 result = 0;
    for (u32 row = 0; row < 8; row++) {
        u32 term = (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
        result |= term & (0 - (table >> row & 1));
    }
    return result;
}

INLINE u32 permute(u32 a, u32 b, u32 selectors) {
    u64 pair = (u64)b << 32 | a;
    u32 result = 0;
    for (u32 k = 0; k < 4; k++) {
        u32 which = selectors >> 4 * k & 15;
        u32 byte = (u32)(pair >> (which & 7) * 8) & 255;
        byte = which & 8 ? (byte >> 7) * 255 : byte;
        result |= byte << 8 * k;
    }
    return result;
}

/* Numbers without a fraction to integers: convert.py */

#define WHOLE(kind, low, beyond, least, most) \
    INLINE kind whole_##kind(f64 x, kind nan) { \
        f64 inside = x >= low && x < beyond ? x : 0; \
        kind clamped = x < low ? (kind)least : x >= beyond ? (kind)most : (kind)inside; \
        return x == x ? clamped : nan; \
    }
WHOLE(u8, 0.0, 256.0, 0, 255)
WHOLE(s8, -128.0, 128.0, -128, 127)
WHOLE(u16, 0.0, 65536.0, 0, 65535)
WHOLE(s16, -32768.0, 32768.0, -32768, 32767)
WHOLE(u32, 0.0, 4294967296.0, 0, 4294967295u)
WHOLE(s32, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX)
WHOLE(u64, 0.0, 18446744073709551616.0, 0, UINT64_MAX)
WHOLE(s64, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX)

/* Predicates ------------------------------------------------------------------------------------- */

/* The lanes of a predicate, of 32 bytes that are 0 or 1, as a mask. */
INLINE u32 mask_of(const u8 *p) {
    u32 mask = 0;
    for (s32 k = 0; k < 4; k++) {
        u64 eight;
        memcpy(&eight, p + 8 * k, 8);
        mask |= (u32)(eight * 0x0102040810204080ull >> 56) << 8 * k;
    }
    return mask;
}

OPERATION(count_guard) {
    const u8 *guard = (const u8 *)P[A[0]];
    s64 count = 0;
    if (s->active)
        for (s64 k = 0; k < s->lanes / WARP; k++)
            count += __builtin_popcount(mask_of(guard + WARP * k) & s->active[k]);
    else
        for (s64 k = 0; k < s->real; k++) count += guard[k];
    s->guarded[A[1]] += count;
}
