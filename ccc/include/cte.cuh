// Collaborative Task Engagement (Khorasani, 2016, section 4.2): a nested pattern is written as if
// each thread had a task of its own, and the warp walks the joined list of all their parts.
//
//     sum = cte::for_each_index<256, cte::scanned>(begin, end, map, cte::plus(), 0.0f);
//
// C++17, sm_70 or later, nvcc or NVRTC, no other header, no shared memory. docs/cte.md has it all.

#pragma once

#if __cplusplus < 201703L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 201703L)
#error "cte.cuh needs C++17: -std=c++17"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
#error "cte.cuh needs compute capability 7.0 or later"
#endif

namespace cte {

// What may be asked for ---------------------------------------------------------------------------

/// Each thread goes through its own task: what a plain loop does.
struct thread {};

/// Groups of so many lanes go through the tasks of their lanes, one after the other.
template <int LANES>
struct sub_warp {};

/// All lanes walk the joined list of their tasks: Collaborative Task Engagement.
struct warp {};

/// The first or the last of them, by the sizes that the warp holds.
struct automatic {};

/// The list of each lane begins where that of the lane before it ends, as of rows of a CSR matrix.
struct scanned {};

/// The lists of the lanes may lie anywhere.
struct disjoint {};

/// For blocks whose size is not known when compiling.
constexpr int unknown = 0;

/// How many bytes of shared memory a call takes, whatever it is asked for.
constexpr int shared_bytes = 0;

/// How many bytes the value, and all of the state, may have.
constexpr int most_bytes = 64;

/// A reduction whose operands may change places, too: long lists need fewer steps then.
template <class Reduce>
struct commutative {
    Reduce reduce;
    __device__ constexpr explicit commutative(Reduce reduce) : reduce(reduce) {}
    template <class T>
    __device__ constexpr T operator()(const T& a, const T& b) const
    {
        return reduce(a, b);
    }
};

struct plus {
    template <class T>
    __device__ constexpr T operator()(const T& a, const T& b) const
    {
        return a + b;
    }
};

struct minimum {
    template <class T>
    __device__ constexpr T operator()(const T& a, const T& b) const
    {
        return b < a ? b : a;
    }
};

struct maximum {
    template <class T>
    __device__ constexpr T operator()(const T& a, const T& b) const
    {
        return a < b ? b : a;
    }
};

namespace detail {

// The few traits that are needed; NVRTC has no headers of the host --------------------------------

template <bool, class T = void>
struct enable {};
template <class T>
struct enable<true, T> {
    using type = T;
};
template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;
template <class T>
struct plain_of {
    using type = T;
};
template <class T>
struct plain_of<T&> : plain_of<T> {};
template <class T>
struct plain_of<T&&> : plain_of<T> {};
template <class T>
struct plain_of<const T> : plain_of<T> {};
template <class T>
using plain = typename plain_of<T>::type;
template <class... T>
struct made_void {
    using type = void;
};
template <class T>
__device__ T&& a();

template <class T>
constexpr bool integral = same<T, int> || same<T, unsigned> || same<T, long> ||
                          same<T, unsigned long> || same<T, long long> ||
                          same<T, unsigned long long>;
template <bool LONG>
struct size_of_index {
    using type = unsigned;
};
template <>
struct size_of_index<true> {
    using type = unsigned long long;
};
template <class Index>
using size_for = typename size_of_index<(sizeof(Index) > 4)>::type;

template <class F, class Arguments, class = void>
constexpr bool callable = false;
template <class F, class... A>
constexpr bool callable<
    F, void(A...), typename made_void<decltype(a<F&>()(a<const A&>()...))>::type> = true;

template <class T, class = void>
constexpr bool meets = false;
template <class T>
constexpr bool meets<T, typename made_void<decltype(a<T&>().sync())>::type> = true;

template <class Reduce>
constexpr bool is_commutative =
    same<Reduce, plus> || same<Reduce, minimum> || same<Reduce, maximum>;
template <class Reduce>
constexpr bool is_commutative<commutative<Reduce>> = true;

/// In place of a value and of a reduction where there are none.
struct none {};

// Lanes -------------------------------------------------------------------------------------------

constexpr unsigned ALL = 0xffffffff;

/// Lists of so many items are walked piece by piece: 32 of them have fewer items than 2^32 - 32.
constexpr unsigned LONG = 1u << 26;

/// Lists of so many items are not told from longer ones where it is asked if all are as long.
constexpr unsigned EVEN = 1u << 21;

__device__ __forceinline__ unsigned lane_number()
{
    unsigned lane;  // not of threadIdx, for blocks of any shape
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/// The place of the bit before which `n` bits are set; there are more than `n`.
__device__ __forceinline__ unsigned nth_bit(unsigned bits, unsigned n)
{
    unsigned place = 0;
    #pragma unroll
    for (unsigned width = 16; width; width /= 2) {
        const unsigned low = __popc(bits & ((1u << width) - 1));
        if (n >= low) {
            n -= low;
            bits >>= width;
            place += width;
        }
    }
    return place;
}

/// A value of another lane, word by word: `shuffle` fetches one of them.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffled(const T& value, Shuffle shuffle)
{
    constexpr unsigned WORDS = (sizeof(T) + 3) / 4;
    unsigned words[WORDS] = {};
    T result = value;
    memcpy(words, &value, sizeof(T));
    #pragma unroll
    for (unsigned i = 0; i < WORDS; ++i) words[i] = shuffle(words[i]);
    memcpy(static_cast<void*>(&result), words, sizeof(T));
    return result;
}

/// Assign what may have no assignment, as closures have none.
template <class T>
__device__ __forceinline__ void assign(T& to, const T& from)
{
    memcpy(static_cast<void*>(&to), &from, sizeof(T));
}

template <class T>
__device__ __forceinline__ T from_lane(unsigned mask, const T& value, unsigned lane)
{
    return detail::shuffled(value, [=](unsigned word) { return __shfl_sync(mask, word, lane); });
}

/// The lanes that work together. Each has a place among them, in the order of their numbers.
///
/// Everything is done by exactly those, whichever they are: lanes of one warp that come at
/// different times are several teams, which know nothing of one another.
template <bool WHOLE>
struct team {
    unsigned mask, place, count;

    __device__ explicit team(unsigned members) : mask(members)
    {
        place = __popc(members & ((1u << lane_number()) - 1));
        count = __popc(members);
    }
    __device__ unsigned lane_at(unsigned other) const { return nth_bit(mask, other); }
    __device__ unsigned up_to_mine() const { return (2u << place) - 1; }
    __device__ unsigned previous() const { return lane_at((place + count - 1) % count); }
    __device__ unsigned next() const { return lane_at((place + 1) % count); }

    /// The value so many places before, or behind; somebody's if there is none there.
    ///
    /// `lane` is the previous one, or the next, and then one twice as far in each step.
    template <class T>
    __device__ T before(const T& value, unsigned, unsigned& lane) const
    {
        const T result = detail::from_lane(mask, value, lane);
        lane = __shfl_sync(mask, lane, lane);
        return result;
    }
    template <class T>
    __device__ T behind(const T& value, unsigned distance, unsigned& lane) const
    {
        return before(value, distance, lane);
    }
};

/// A warp of which no lane is missing.
template <>
struct team<true> {
    static constexpr unsigned mask = ALL, count = 32;
    unsigned place;

    __device__ explicit team(unsigned) : place(lane_number()) {}
    __device__ unsigned lane_at(unsigned other) const { return other; }
    __device__ unsigned up_to_mine() const { return (2u << place) - 1; }
    __device__ unsigned previous() const { return 0; }
    __device__ unsigned next() const { return 0; }
    template <class T>
    __device__ T before(const T& value, unsigned distance, unsigned&) const
    {
        const auto shuffle = [=](unsigned w) { return __shfl_up_sync(ALL, w, distance); };
        return detail::shuffled(value, shuffle);
    }
    template <class T>
    __device__ T behind(const T& value, unsigned distance, unsigned&) const
    {
        const auto shuffle = [=](unsigned w) { return __shfl_down_sync(ALL, w, distance); };
        return detail::shuffled(value, shuffle);
    }
};

/// All the bits that lanes of the team give.
template <bool WHOLE>
__device__ __forceinline__ unsigned all_bits(const team<WHOLE>& lanes, unsigned bits)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(lanes.mask, bits);
#else
    unsigned lane = lanes.next();
    if constexpr (WHOLE) {
        #pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) bits |= __shfl_xor_sync(ALL, bits, step);
    } else {
        for (unsigned step = 1; step < lanes.count; step *= 2)  // round the ring of them
            bits |= lanes.before(bits, step, lane);
    }
    return bits;
#endif
}

/// The reduction, in their order, of what the first `count` of the team hold, on the first of them.
///
/// Whose `place` it is counts, so that groups of LIMIT lanes can do so side by side.
template <unsigned LIMIT, bool WHOLE, class T, class Reduce>
__device__ __forceinline__ T
over_all(const team<WHOLE>& lanes, T value, unsigned place, unsigned count, Reduce& reduce)
{
    unsigned lane = lanes.next();
    #pragma unroll
    for (unsigned step = 1; step < LIMIT; step *= 2) {
        const T next = lanes.behind(value, step, lane);
        if (place + step < count) value = reduce(value, next);
    }
    return value;
}

// What a lane is called with ----------------------------------------------------------------------

/// The state of a task: what map gets besides an index.
template <class... State>
struct pack {
    template <class F, class... A>
    __device__ __forceinline__ decltype(auto) call(F& f, const A&... a) const
    {
        return f(a...);
    }
    __device__ __forceinline__ pack of(unsigned, unsigned) const { return {}; }
};

template <class First, class... Rest>
struct pack<First, Rest...> {
    First first;
    pack<Rest...> rest;

    template <class F, class... A>
    __device__ __forceinline__ decltype(auto) call(F& f, const A&... a) const
    {
        return rest.call(f, a..., first);
    }
    __device__ __forceinline__ pack of(unsigned mask, unsigned lane) const
    {
        return {detail::from_lane(mask, first, lane), rest.of(mask, lane)};
    }
};

__device__ __forceinline__ pack<> packed() { return {}; }
template <class First, class... Rest>
__device__ __forceinline__ pack<First, Rest...> packed(First first, Rest... rest)
{
    return {first, packed(rest...)};
}

/// Consecutive indices.
template <class Index>
struct consecutive {
    using size = size_for<Index>;
    Index first;
    __device__ Index at(size k) const { return Index(size(first) + k); }
    __device__ consecutive moved(size by) const { return {at(-by)}; }
    template <class F>
    __device__ __forceinline__ void each(size count, F run) const
    {
        for (Index index = first; index < at(count); ++index) run(index);
    }
};

/// Indices with a stride between them.
template <class Index>
struct striding {
    using size = size_for<Index>;
    Index first, stride;
    __device__ Index at(size k) const { return Index(size(first) + k * size(stride)); }
    __device__ striding moved(size by) const { return {at(-by), stride}; }
    template <class F>
    __device__ __forceinline__ void each(size count, F run) const
    {
        for (size k = 0; k < count; ++k) run(at(k));
    }
};

/// Indices that a function knows.
template <class Count, class Kth>
struct looked_up {
    using size = size_for<Count>;
    Kth kth;
    size skipped;
    __device__ auto at(size k) const { return kth(Count(k - skipped)); }
    __device__ looked_up moved(size by) const { return {kth, skipped + by}; }
    template <class F>
    __device__ __forceinline__ void each(size count, F run) const
    {
        for (size k = 0; k < count; ++k) run(at(k));
    }
};

/// What is to be done, and what has come out of it: `value`.
template <class Source, class Map, class Reduce, class Value, class State>
struct job {
    using size = typename Source::size;
    static constexpr bool reduces = !same<Reduce, none>;
    static constexpr bool commutes = is_commutative<Reduce>;
    Source source;
    size count;
    Map& map;
    Reduce& reduce;
    Value value;
    State state;

    /// Run map for an index of somebody's task.
    template <class Index>
    __device__ __forceinline__ Value mapped_at(const Index& index, const State& with) const
    {
        if constexpr (reduces) {
            return with.call(map, index);
        } else {
            with.call(map, index);
            return {};
        }
    }
    __device__ __forceinline__ Value mapped(const Source& of, size k, const State& with) const
    {
        return mapped_at(of.at(k), with);
    }
    __device__ __forceinline__ void add(const Value& more) { value = reduce(value, more); }
};

// One thread a task -------------------------------------------------------------------------------

template <class Job>
__device__ __forceinline__ void alone(Job& job)
{
    job.source.each(job.count, [&](auto index) {
        [[maybe_unused]] const auto value = job.mapped_at(index, job.state);
        if constexpr (Job::reduces) job.add(value);
    });
}

// The joined list ---------------------------------------------------------------------------------

/// What is left unmade until something is assigned to it, as closures cannot be made of nothing.
template <class T>
union unmade {
    T made;
    char nothing;
    __device__ unmade() : nothing() {}
};

/// How many windows are looked at together: loads of one need not wait for those of another.
///
/// Of a value, a source and a state that take much room, fewer. SpMV, H200, 2026-11-23, 2 and 4 of
/// joined lists, in microseconds: 102 and 98 (a mean of 4 entries), 49 and 49 (0 to 16), 47 and 47
/// (a road network), but by more registers; of others 119 and 124, 55 and 57, 64 and 69, and 191
/// and 146 (a power law), 100 and 103 (a web graph).
template <class Job, bool SCANNED>
constexpr unsigned windows = sizeof(Job) > 128                             ? 1
                             : sizeof(Job) > 64                            ? 2
                             : SCANNED && (Job::commutes || !Job::reduces) ? 2
                                                                           : 4;

/// The same where all are inside of one list.
///
/// SpMV as above, 4, 8 and 16 of joined lists: 199, 131 and 119 (a power law), 622, 375 and 311
/// (R-MAT, permuted), 109, 101 and 138 (200 to 400 entries); 4 and 8 of others: 143 and 158, 451
/// and 450, 100 and 138.
template <class Job, bool SCANNED>
constexpr unsigned windows_inside = sizeof(Job) > 128 ? 1 : SCANNED ? 8 : 4;

/// One walk of a team through its joined list, which has fewer than 2^32 - 128 items.
///
/// WINDOWS of as many items as the team has lanes move over it together. Lists that begin inside
/// of a window set a bit there, which says whose item each lane has, and where the reduction by
/// shuffles stops. While all windows are inside of one list, nothing need be looked up, and each
/// lane reduces what is its own if that is allowed.
template <bool WHOLE, bool SCANNED, unsigned WINDOWS, class Job>
struct joined_walk {
    using Source = decltype(Job::source);
    using State = decltype(Job::state);
    using Value = decltype(Job::value);
    using size = typename Job::size;
    static constexpr unsigned inside = WHOLE ? windows_inside<Job, SCANNED> : 1;
    static constexpr bool fetches = !SCANNED || !same<State, pack<>>;  // for what an item needs

    team<WHOLE> lanes;
    Job& job;
    unsigned start, end, total;  // of the own list in the joined one, and how long that is
    unsigned tasks, where;       // who has a list at all, and who is the place-th of these
    Source own;                  // item k of the joined list is item k of this
    unmade<Source> source[WINDOWS];
    unmade<State> state[WINDOWS];
    unsigned heads[WINDOWS];     // where in a window lists begin

    __device__ __forceinline__ joined_walk(const team<WHOLE>& lanes, Job& job, unsigned length)
        : lanes(lanes), job(job), own(job.source)
    {
        place_lists(length);
        detail::assign(own, job.source.moved(start));
        tasks = __ballot_sync(lanes.mask, length != 0);
        where = WHOLE && tasks != ALL ? nth_bit(tasks, lanes.place) : lanes.place;
        #pragma unroll
        for (unsigned w = 0; w < WINDOWS; ++w) {
            heads[w] = 0;
            detail::assign(source[w].made, own);
            detail::assign(state[w].made, job.state);
        }
    }

    __device__ __forceinline__ void place_lists(unsigned length)
    {
        if constexpr (SCANNED) {
            start = unsigned(job.source.first - __shfl_sync(ALL, job.source.first, 0));
            end = start + length;
        } else {
            end = length;
            unsigned lane = lanes.previous();
            #pragma unroll
            for (unsigned step = 1; step < 32; step *= 2) {
                const unsigned before = lanes.before(end, step, lane);
                if (lanes.place >= step) end += before;
            }
            start = end - length;
        }
        total = __shfl_sync(lanes.mask, end, lanes.lane_at(lanes.count - 1));
    }

    __device__ __forceinline__ void run()
    {
        if constexpr (!Job::reduces && !fetches) return run_all();
        for (unsigned first = 0; first < total;) {
            if constexpr (Job::commutes || !Job::reduces) {
                const bool all = start <= first && first + inside * lanes.count <= end;
                const unsigned owner = __ballot_sync(lanes.mask, all);
                if (owner) {
                    first = run_inside(first, __ffs(owner) - 1);
                    continue;
                }
            }
            run_windows(first);
            first += WINDOWS * lanes.count;
        }
    }

    /// Run all items where none needs to know whose it is.
    __device__ __forceinline__ void run_all()
    {
        const unsigned turns = (total + lanes.count - 1 - lanes.place) / lanes.count;
        for (unsigned turn = 0; turn < turns; ++turn)
            job.mapped(own, turn * lanes.count + lanes.place, job.state);
    }

    /// Run what is left of one list, but for less than all windows; where that ends.
    __device__ __forceinline__ unsigned run_inside(unsigned first, unsigned owner)
    {
        const unsigned span = inside * lanes.count;
        const unsigned turns = (__shfl_sync(lanes.mask, end, owner) - first) / span;
        const Source from = SCANNED ? own : detail::from_lane(lanes.mask, own, owner);
        const State with = job.state.of(lanes.mask, owner);
        Value partial = job.value;
        #pragma unroll 1
        for (unsigned turn = 0; turn < turns; ++turn) {
            const unsigned item = first + turn * span + lanes.place;
            unmade<Value> value[inside];
            #pragma unroll
            for (unsigned w = 0; w < inside; ++w)
                detail::assign(value[w].made, job.mapped(from, item + w * lanes.count, with));
            if constexpr (Job::reduces) {
                #pragma unroll
                for (unsigned w = 1; w < inside; ++w)
                    detail::assign(value[0].made, Value(job.reduce(value[0].made, value[w].made)));
                partial = turn ? Value(job.reduce(partial, value[0].made)) : value[0].made;
            }
        }
        if constexpr (Job::reduces) {
            partial = detail::over_all<32>(lanes, partial, lanes.place, lanes.count, job.reduce);
            partial = detail::from_lane(lanes.mask, partial, lanes.lane_at(0));
            if (lane_number() == owner) job.add(partial);
        }
        return first + turns * span;
    }

    __device__ __forceinline__ void run_windows(unsigned first)
    {
        look(first);
        unmade<Value> value[WINDOWS];
        #pragma unroll
        for (unsigned w = 0; w < WINDOWS; ++w) {
            const unsigned item = first + w * lanes.count + lanes.place;
            detail::assign(value[w].made, job.value);
            if (item >= total) continue;
            detail::assign(value[w].made, job.mapped(source[w].made, item, state[w].made));
        }
        if constexpr (Job::reduces) {
            reduce_lists(first, value);
            #pragma unroll
            for (unsigned w = 0; w < WINDOWS; ++w)
                hand_over(first + w * lanes.count, value[w].made);
        }
    }

    /// Find out whose items the windows hold, and fetch what these need to know.
    __device__ __forceinline__ void look(unsigned first)
    {
        const bool some = start < end;
        unsigned begun = __popc(__ballot_sync(lanes.mask, some && start < first));
        #pragma unroll
        for (unsigned w = 0; w < WINDOWS; ++w, first += lanes.count) {
            if (first >= total) break;
            const unsigned place = start - first;
            heads[w] = detail::all_bits(lanes, some && place < lanes.count ? 1u << place : 0);
            if constexpr (fetches) {
                const unsigned list = begun + __popc(heads[w] & lanes.up_to_mine()) - 1;
                begun += __popc(heads[w]);
                const unsigned owner = WHOLE ? __shfl_sync(ALL, where, list) : nth_bit(tasks, list);
                if constexpr (!SCANNED)
                    detail::assign(source[w].made, detail::from_lane(lanes.mask, own, owner));
                detail::assign(state[w].made, job.state.of(lanes.mask, owner));
            }
        }
    }

    /// Reduce the values of the windows so that the last of each list there has all of them.
    __device__ __forceinline__ void reduce_lists(unsigned first, unmade<Value>* value)
    {
        unsigned far[WINDOWS];  // whose list begins at least so many places before them
        #pragma unroll
        for (unsigned w = 0; w < WINDOWS; ++w, first += lanes.count) {
            const unsigned left = first < total ? total - first : 0;
            far[w] = ~(heads[w] | 1) & (left < 32 ? (1u << left) - 1 : ALL);
        }
        unsigned lane = lanes.previous();
        #pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) {
            unsigned any = 0;
            for (unsigned w = 0; w < WINDOWS; ++w) any |= far[w];
            if (!any) break;
            #pragma unroll
            for (unsigned w = 0; w < WINDOWS; ++w) {
                const Value before = lanes.before(value[w].made, step, lane);
                if (far[w] >> lanes.place & 1)
                    detail::assign(value[w].made, Value(job.reduce(before, value[w].made)));
                far[w] &= far[w] << step;
            }
        }
    }

    /// Give the owners of the lists in a window what these come to.
    __device__ __forceinline__ void hand_over(unsigned first, const Value& value)
    {
        if (first >= total) return;
        const unsigned behind = first + lanes.count;
        const bool mine = start < end && start < behind && end > first;
        const unsigned last = (end < behind ? end : behind) - 1 - first;
        const unsigned from = lanes.lane_at(mine ? last : lanes.place);
        const Value sum = detail::from_lane(lanes.mask, value, from);
        if (mine) job.add(sum);
    }
};

/// The joined list of those who are here, however long it is.
template <class Job>
__device__ __forceinline__ void together_some(unsigned members, Job& job)
{
    using size = typename Job::size;
    const team<false> lanes(members);
    size left = job.count;
    do {
        const unsigned part = left < LONG ? left : LONG;
        joined_walk<false, false, 1, Job>(lanes, job, part).run();
        detail::assign(job.source, job.source.moved(size(0) - part));
        left -= part;
    } while (__any_sync(members, left != 0));
}

/// Whether the own list, if lists are SCANNED, ends where that of the next lane begins.
///
/// Where somebody has been told so wrongly, the lists are walked as disjoint ones.
template <bool SCANNED, class Job>
__device__ __forceinline__ bool joins(const Job& job)
{
    if constexpr (SCANNED) {
        const auto next = __shfl_down_sync(ALL, job.source.first, 1);
        return lane_number() == 31 || job.source.at(job.count) == next;
    }
    return true;
}

template <int BLOCK, bool SCANNED, class Job>
__device__ __forceinline__ void together(unsigned members, Job& job)
{
    if constexpr (BLOCK == unknown || BLOCK >= 32) {
        if (members == ALL && __all_sync(ALL, job.count < LONG && joins<SCANNED>(job))) {
            const team<true> lanes(ALL);
            joined_walk<true, SCANNED, windows<Job, SCANNED>, Job>(lanes, job, unsigned(job.count))
                .run();
            return;
        }
    }
    together_some(members, job);
}

// Groups of lanes ---------------------------------------------------------------------------------

/// Add what the lanes of a group have of the `count` next items of the owner's task.
template <unsigned LANES, class Job, class Value, class size>
__device__ __forceinline__ void
hand_over(Job& job, const Value& value, unsigned place, unsigned owner, size count)
{
    const unsigned here = count < LANES ? unsigned(count) : LANES;
    const Value sum = detail::over_all<LANES>(team<true>(ALL), value, place, here, job.reduce);
    const Value all = detail::from_lane(ALL, sum, lane_number() - place);
    if (here && lane_number() == owner) job.add(all);
}

/// Groups of LANES lanes take the tasks of their lanes in turn; all lanes of the warp are here.
template <unsigned LANES, class Job>
__device__ __forceinline__ void in_groups(Job& job)
{
    using size = typename Job::size;
    const unsigned place = lane_number() % LANES, leader = lane_number() - place;
    for (unsigned turn = 0; turn < LANES; ++turn) {
        const unsigned owner = leader + turn;
        const size count = detail::from_lane(ALL, job.count, owner);
        if (!__any_sync(ALL, count != 0)) continue;
        const auto source = detail::from_lane(ALL, job.source, owner);
        const auto state = job.state.of(ALL, owner);
        if constexpr (!Job::reduces) {
            for (size k = place; k < count; k += LANES) job.mapped(source, k, state);
        } else if constexpr (Job::commutes) {
            auto value = job.value;
            if (place < count) value = job.mapped(source, place, state);
            for (size k = size(place) + LANES; k < count; k += LANES)
                value = job.reduce(value, job.mapped(source, k, state));
            detail::hand_over<LANES>(job, value, place, owner, count);
        } else {
            for (size k = 0; __any_sync(ALL, k < count); k += LANES) {
                auto value = job.value;
                if (k + place < count) value = job.mapped(source, k + place, state);
                detail::hand_over<LANES>(job, value, place, owner, k < count ? count - k : 0);
            }
        }
    }
}

// Which of them -----------------------------------------------------------------------------------

/// Whether one thread a task is as good: lists are short, or all as long as the longest of them.
///
/// Of a whole warp even lists are better walked together if they are long, since the items of one
/// list lie side by side in memory. SpMV as above, one thread a task, together, and by this: 48, 59
/// and 48 (3 entries each), 82, 57 and 56 (16 each), 35, 36 and 32 (a mesh, about 6 each), 43, 47
/// and 45 (a road network, 1 to 6), 118, 101 and 102 (a mean of 4).
__device__ __forceinline__ bool is_even(unsigned members, unsigned count)
{
    unsigned most = count, sum = count;
#if __CUDA_ARCH__ >= 800
    most = __reduce_max_sync(members, count);
    sum = __reduce_add_sync(members, count);
#else
    if (members != ALL) return false;
    #pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
        const unsigned other = __shfl_xor_sync(ALL, most, step);
        most = other > most ? other : most;
        sum += __shfl_xor_sync(ALL, sum, step);
    }
#endif
    const bool even = 5 * most * __popc(members) <= 8 * sum;
    return most <= 4 || (even && (most <= 12 || members != ALL));
}

template <class Decomposition>
struct by;

template <>
struct by<thread> {
    template <int BLOCK, bool SCANNED, class Job>
    __device__ __forceinline__ static void run(Job& job)
    {
        alone(job);
    }
};

template <>
struct by<warp> {
    template <int BLOCK, bool SCANNED, class Job>
    __device__ __forceinline__ static void run(Job& job)
    {
        const unsigned members = __activemask();
        __syncwarp(members);  // what lanes wrote before is seen by whoever runs their items
        together<BLOCK, SCANNED>(members, job);
        __syncwarp(members);  // and what those wrote, by them
    }
};

template <int LANES>
struct by<sub_warp<LANES>> {
    static_assert(LANES == 2 || LANES == 4 || LANES == 8 || LANES == 16 || LANES == 32,
                  "a sub-warp has 2, 4, 8, 16 or 32 lanes");
    template <int BLOCK, bool SCANNED, class Job>
    __device__ __forceinline__ static void run(Job& job)
    {
        const unsigned members = __activemask();
        if (members != ALL || __any_sync(ALL, job.count + LANES < job.count)) return alone(job);
        __syncwarp();
        in_groups<LANES>(job);
        __syncwarp();
    }
};

template <>
struct by<automatic> {
    template <int BLOCK, bool SCANNED, class Job>
    __device__ __forceinline__ static void run(Job& job)
    {
        const unsigned members = __activemask();
        const unsigned count = job.count < EVEN ? unsigned(job.count) : EVEN;
        if (is_even(members, count)) return alone(job);
        __syncwarp(members);
        together<BLOCK, SCANNED>(members, job);
        __syncwarp(members);
    }
};

// What a user hands over --------------------------------------------------------------------------

/// A source of indices and how many it has.
template <class Source>
struct tasks {
    Source source;
    typename Source::size count;
};

template <class Source>
constexpr bool is_consecutive = false;
template <class Index>
constexpr bool is_consecutive<consecutive<Index>> = true;

/// Whether map makes values of an index and the state, and reduce a value of two.
template <class Index, class Map, class Reduce, class Value, class... State>
__device__ constexpr bool check_calls()
{
    constexpr bool maps = callable<Map, void(Index, State...)>;
    static_assert(maps, "map is called with an index and with the state, by value");
    if constexpr (maps && !same<Reduce, none>) {
        using Mapped = plain<decltype(a<Map&>()(a<const Index&>(), a<const State&>()...))>;
        constexpr bool reduces = callable<Reduce, void(Value, Value)>;
        static_assert(reduces, "reduce is called with two values");
        static_assert(same<Mapped, Value>,
                      "map returns what the initial value is: convert one of them");
        return reduces && same<Mapped, Value>;
    }
    return maps;
}

template <class Source, class Map, class Value, class... State>
__device__ constexpr void check_values()
{
    static_assert((true && ... && __is_trivially_copyable(State)) &&
                      __is_trivially_copyable(Value) && __is_trivially_copyable(Source),
                  "values, state and what lists the indices go from lane to lane as plain bytes");
    static_assert(sizeof(Value) <= most_bytes && sizeof(Source) <= most_bytes + 8 &&
                      (0 + ... + sizeof(State)) <= most_bytes,
                  "a value, the state, and what lists the indices have 64 bytes at most");
    static_assert(!meets<Map> && !(false || ... || meets<State>),
                  "map must not meet other threads: lanes run it at different times");
}

template <class D, int BLOCK, class Lists, class Source, class Map, class Reduce, class Value,
          class... State>
__device__ __forceinline__ Value
engage(const tasks<Source>& given, Map& map, Reduce& reduce, const Value& initial, State... state)
{
    using Index = plain<decltype(given.source.at(0))>;
    static_assert(0 <= BLOCK && BLOCK <= 1024, "a block has 1 to 1024 threads, or cte::unknown");
    static_assert(same<Lists, scanned> || same<Lists, disjoint>,
                  "lists are cte::scanned or cte::disjoint");
    constexpr bool joined = same<Lists, scanned>;
    static_assert(!joined || is_consecutive<Source>,
                  "cte::scanned is for a begin and an end; other lists are cte::disjoint");
    check_values<Source, Map, Value, State...>();
    if constexpr (check_calls<Index, Map, Reduce, Value, State...>()) {
        using Work = job<Source, Map, Reduce, Value, pack<State...>>;
        Work work{given.source, given.count, map, reduce, initial, detail::packed(state...)};
        by<D>::template run<BLOCK, joined && is_consecutive<Source>>(work);
        return work.value;
    }
    return initial;
}

}  // namespace detail

// The lists of indices ----------------------------------------------------------------------------

/// The indices from `begin` to before `end`.
template <class Begin, class End>
__device__ __forceinline__ auto range(Begin begin, End end)
{
    using Index = detail::plain<decltype(true ? begin : end)>;
    static_assert(detail::integral<Index>, "indices have 32 or 64 bits");
    using Source = detail::consecutive<Index>;
    using size = typename Source::size;
    const Index first = begin, last = end;
    return detail::tasks<Source>{{first}, first < last ? size(last) - size(first) : 0};
}

/// Every `stride`-th index from `begin` to before `end`; downwards if the stride is negative.
template <class Begin, class End, class Stride>
__device__ __forceinline__ auto strided(Begin begin, End end, Stride stride)
{
    using Index = detail::plain<decltype(true ? begin : end)>;
    static_assert(detail::integral<Index> && detail::integral<Stride>,
                  "indices and strides have 32 or 64 bits");
    using Source = detail::striding<Index>;
    using size = typename Source::size;
    const Index first = begin, last = end, by = Index(stride);
    const bool up = stride > 0;
    const size step = up ? size(by) : size(0) - size(by);
    const size way = up ? size(last) - size(first) : size(first) - size(last);
    const bool some = up ? first < last : stride != 0 && last < first;
    return detail::tasks<Source>{{first, by}, some ? (way - 1) / step + 1 : 0};
}

/// `count` indices of which `kth(k)` is the k-th.
///
/// What `kth` has captured is of its own lane; capture by value.
template <class Count, class Kth>
__device__ __forceinline__ auto listed(Count count, Kth kth)
{
    static_assert(detail::integral<Count>, "counts have 32 or 64 bits");
    using Source = detail::looked_up<Count, Kth>;
    using size = typename Source::size;
    return detail::tasks<Source>{{kth, 0}, count > 0 ? size(count) : 0};
}

// The calls ---------------------------------------------------------------------------------------

/// Reduce what `map(index, state...)` returns for all indices of this thread, and `initial`.
///
/// All threads that are here do so together. Which of them runs map for an index is not said, so
/// whatever differs among them is handed over as state. `reduce` is associative; it gets values in
/// the order of their indices.
template <class Decomposition = warp, int BLOCK = unknown, class Lists = disjoint, class Source,
          class Map, class Reduce, class Value, class... State>
__device__ __forceinline__ Value for_each_index(const detail::tasks<Source>& tasks, Map&& map,
                                                Reduce&& reduce, Value initial, State... state)
{
    auto reducing = reduce;
    return detail::engage<Decomposition, BLOCK, Lists>(tasks, map, reducing, initial, state...);
}

template <class Decomposition = warp, int BLOCK = unknown, class Lists = disjoint, class Begin,
          class End, class Map, class Reduce, class Value, class... State>
__device__ __forceinline__ auto for_each_index(Begin begin, End end, Map&& map, Reduce&& reduce,
                                               Value initial, State... state)
    -> typename detail::enable<detail::integral<Begin> && detail::integral<End>, Value>::type
{
    return for_each_index<Decomposition, BLOCK, Lists>(range(begin, end), map, reduce, initial,
                                                        state...);
}

/// Run `body(index, state...)` for all indices of this thread, without a result.
template <class Decomposition = warp, int BLOCK = unknown, class Lists = disjoint, class Source,
          class Body, class... State>
__device__ __forceinline__ void for_each(const detail::tasks<Source>& tasks, Body&& body,
                                         State... state)
{
    detail::none nothing;
    detail::engage<Decomposition, BLOCK, Lists>(tasks, body, nothing, nothing, state...);
}

template <class Decomposition = warp, int BLOCK = unknown, class Lists = disjoint, class Begin,
          class End, class Body, class... State>
__device__ __forceinline__ auto for_each(Begin begin, End end, Body&& body, State... state) ->
    typename detail::enable<detail::integral<Begin> && detail::integral<End>>::type
{
    for_each<Decomposition, BLOCK, Lists>(range(begin, end), body, state...);
}

/// As above, by the warp.
template <int BLOCK, class Lists = disjoint, class... Arguments>
__device__ __forceinline__ auto for_each_index(Arguments&&... arguments)
{
    return for_each_index<warp, BLOCK, Lists>(static_cast<Arguments&&>(arguments)...);
}

template <int BLOCK, class Lists = disjoint, class... Arguments>
__device__ __forceinline__ void for_each(Arguments&&... arguments)
{
    for_each<warp, BLOCK, Lists>(static_cast<Arguments&&>(arguments)...);
}

}  // namespace cte
