// The polynomials, and what tells which one a value takes.

#pragma once

enum Branch { CENTRAL, TAIL, FAR_TAIL };

// From the highest power down.
__device__ constexpr double CENTRAL_TERMS[] = {
    -3.64441206401782e-21, -1.6850591381820166e-19, 1.28584807152564e-18, 1.1157877678025181e-17,
    -1.333171662854621e-16, 2.0972767875968562e-17, 6.637638134358324e-15, -4.054566272975207e-14,
    -8.151934197605472e-14, 2.6335093153082323e-12, -1.2975133253453532e-11, -5.415412054294628e-11,
    1.0512122733215323e-09, -4.112633980346984e-09, -2.9070369957882005e-08, 4.2347877827932404e-07,
    -1.3654692000834679e-06, -1.3882523362786469e-05, 0.00018673420803405714, -0.000740702534166267,
    -0.006033670871430149, 0.24015818242558962, 1.6536545626831027,
};
__device__ constexpr double TAIL_TERMS[] = {
    2.2137376921775787e-09, 9.075656193888539e-08, -2.7517406297064545e-07, 1.8239629214389228e-08,
    1.5027403968909828e-06, -4.013867526981546e-06, 2.9234449089955446e-06, 1.2475304481671779e-05,
    -4.7318229009055734e-05, 6.828485145957318e-05, 2.4031110387097894e-05, -0.0003550375203628475,
    0.0009532893797373805, -0.0016882755560235047, 0.002491442096107851, -0.003751208507569241,
    0.005370914553590064, 1.0052589676941592, 3.0838856104922208,
};
__device__ constexpr double FAR_TAIL_TERMS[] = {
    -2.7109920616438573e-11, -2.555641816996525e-10, 1.5076572693500548e-09, -3.789465440126737e-09,
    7.61570120807834e-09, -1.496002662714924e-08, 2.914795345090108e-08, -6.771199775845234e-08,
    2.2900482228026655e-07, -9.9298272942317e-07, 4.526062597223154e-06, -1.968177810553167e-05,
    7.599527703001776e-05, -0.00021503011930044477, -0.00013871931833623122, 1.0103004648645344,
    4.849906401408584,
};

// How likely x is to be exceeded, on a logarithmic scale: from 0 in the middle to about 36.
__device__ __forceinline__ double rarity(double x)
{
    return -log((1.0 - x) * (1.0 + x));
}

__device__ __forceinline__ Branch branch(double w)
{
    return w < 6.25 ? CENTRAL : w < 16.0 ? TAIL : FAR_TAIL;
}

template <int N>
__device__ __forceinline__ double polynomial(const double (&terms)[N], double w)
{
    double sum = terms[0];
    #pragma unroll
    for (int k = 1; k < N; ++k) sum = fma(sum, w, terms[k]);
    return sum;
}

__device__ __forceinline__ double central(double w)
{
    return polynomial(CENTRAL_TERMS, w - 3.125);
}

__device__ __forceinline__ double tail(double w)
{
    return polynomial(TAIL_TERMS, sqrt(w) - 3.25);
}

__device__ __forceinline__ double far_tail(double w)
{
    return polynomial(FAR_TAIL_TERMS, sqrt(w) - 5.0);
}
