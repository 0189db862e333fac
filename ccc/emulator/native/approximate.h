/* Functions of which there are approximations only, bit for bit as in semantics/approximate.py, whose
   series come before. */

INLINE f64 turns(f32 x) { return narrow((f64)x * TURNS_IN_RADIAN, RZ); }
INLINE f64 sine_of_turns(f64 x) { return x * series_sine(x * x); }
INLINE f64 sine(f32 x) {
    f64 t = turns(x), size = __builtin_fabs(t), rest = size - __builtin_rint(size);
    f64 near = __builtin_fabs(rest) > 0.25 ? __builtin_copysign(0.5, rest) - rest : rest;
    return __builtin_copysign(1.0, t) * sine_of_turns(near);
}
INLINE f64 cosine(f32 x) {
    f64 size = __builtin_fabs(turns(x));
    return sine_of_turns(0.25 - __builtin_fabs(size - __builtin_rint(size)));
}
INLINE f64 power_of_two(f64 x) {
    f64 near = x < -LARGEST_POWER ? -LARGEST_POWER : x > LARGEST_POWER ? LARGEST_POWER : x;
    f64 whole = __builtin_rint(near);
    s64 exponent = (s64)(x == x ? whole : 0) + 1023;
    return series_power(near - whole) * float_f64((u64)exponent << 52);
}
INLINE f64 logarithm(f64 x) {
    u64 b = bits_f64(x), one = 1023ull << 52;
    f64 mantissa = float_f64((b & ((1ull << 52) - 1)) | one);
    int is_large = mantissa > ROOT_OF_TWO;
    f64 exponent = (f64)(((s64)b >> 52) - 1023) + is_large;
    mantissa = is_large ? mantissa * 0.5 : mantissa;
    f64 ratio = (mantissa - 1) / (mantissa + 1);
    f64 result = exponent + ratio * series_logarithm(ratio * ratio);
    result = x == __builtin_inf() ? x : x == 0 ? -__builtin_inf() : result;
    return x < 0 || x != x ? __builtin_nan("") : result;
}
