// Collaborative Task Engagement (Khorasani, 2016, section 4.2): a nested pattern is written as if
// each thread had a task of its own, and the warp walks the joined list of all their parts.
//
//     sum = cte::for_each_index<256, cte::scanned>(begin, end, map, cte::plus(), 0.0f);
//
// C++17, sm_70 or later, nvcc or NVRTC, no other header; no shared memory but by cte::block.
// docs/cte.md has it all.

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

/// The one that suits the sizes that the warp holds.
struct automatic {};

/// All warps of the block walk the joined list of all its threads' tasks, where one of them has much
/// more to do than the others; else each warp does as by automatic. All threads come to the call.
struct block {};

/// The list of each lane begins where that of the lane before it ends, as of rows of a CSR matrix.
struct scanned {};

/// The lists of the lanes may lie anywhere.
struct disjoint {};

/// For blocks whose size is not known when compiling.
constexpr int unknown = 0;

/// How many bytes of shared memory a call takes by another decomposition than cte::block.
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

/// Lists of so many items are not joined, so that 32 of them have fewer items than 2^32 - 32.
constexpr unsigned LONG = 1u << 26;

__device__ __forceinline__ unsigned lane_number()
{
    unsigned lane;  // not of threadIdx, for blocks of any shape
    // Volatile, so that it is read again where it is needed, and takes no register in between.
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
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

/// The bits that any lane of the warp has.
__device__ __forceinline__ unsigned bits_of_all(unsigned bits)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL, bits);
#else
    #pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) bits |= __shfl_xor_sync(ALL, bits, step);
    return bits;
#endif
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

/// The value of the lane so many places before, or behind; somebody's if there is none there.
template <class T>
__device__ __forceinline__ T before(const T& value, unsigned distance)
{
    const auto shuffle = [=](unsigned word) { return __shfl_up_sync(ALL, word, distance); };
    return detail::shuffled(value, shuffle);
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
    __device__ consecutive moved(size by) const { return {Index(size(first) - by)}; }

    /// The index so many places ahead of the k-th, which is known to be there: so it is no overflow
    /// to add them, and what is loaded there needs no address of its own.
    __device__ Index at(size k, unsigned ahead = 0) const
    {
        return Index(size(first) + k) + Index(ahead);
    }
    template <class F>
    __device__ __forceinline__ void each(size count, F run) const
    {
        for (Index index = first; index < at(count); ++index) run(index);
    }
    /// From the k-th index on: COUNT of them with a distance of 32 at a time, so many times.
    ///
    /// The index goes along, so that it is seen not to overflow, and what is loaded side by side
    /// needs one address.
    template <unsigned COUNT, class F>
    __device__ __forceinline__ void blocks(size k, unsigned times, F run) const
    {
        Index index = at(k);
        #pragma unroll 1
        for (unsigned time = 0; time < times; ++time) {
            run(time, [=](unsigned w) { return index + Index(32 * w); });
            if (time + 1 < times) index += Index(32 * COUNT);
        }
    }
};

/// What indices are run by that have to be computed one by one.
template <class Source, class size>
struct computed {
    template <class F>
    __device__ __forceinline__ void each(size count, F run) const
    {
        const Source& source = static_cast<const Source&>(*this);
        for (size k = 0; k < count; ++k) run(source.at(k));
    }
    template <unsigned COUNT, class F>
    __device__ __forceinline__ void blocks(size k, unsigned times, F run) const
    {
        const Source& source = static_cast<const Source&>(*this);
        #pragma unroll 1
        for (unsigned time = 0; time < times; ++time, k += 32 * COUNT)
            run(time, [&](unsigned w) { return source.at(k + 32 * w); });
    }
};

/// Indices with a stride between them.
template <class Index>
struct striding : computed<striding<Index>, size_for<Index>> {
    using size = size_for<Index>;
    Index first, stride;
    __device__ striding(Index first, Index stride) : first(first), stride(stride) {}
    __device__ Index at(size k, unsigned ahead = 0) const
    {
        return Index(size(first) + (k + ahead) * size(stride));
    }
    __device__ striding moved(size by) const { return {at(-by), stride}; }
};

/// Indices that a function knows.
template <class Count, class Kth>
struct looked_up : computed<looked_up<Count, Kth>, size_for<Count>> {
    using size = size_for<Count>;
    Kth kth;
    size skipped;
    __device__ looked_up(Kth kth, size skipped) : kth(kth), skipped(skipped) {}
    __device__ auto at(size k, unsigned ahead = 0) const { return kth(Count(k + ahead - skipped)); }
    __device__ looked_up moved(size by) const { return {kth, skipped + by}; }
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
    __device__ __forceinline__ Value mapped(const Index& index, const State& with) const
    {
        if constexpr (reduces) {
            return with.call(map, index);
        } else {
            with.call(map, index);
            return {};
        }
    }
    __device__ __forceinline__ void add(const Value& more) { value = reduce(value, more); }
    /// What lanes hand one another for the state: here that itself.
    __device__ __forceinline__ const State& handle() const { return state; }
    __device__ __forceinline__ const State& state_of(const State& handle) const { return handle; }
};

/// How a walk goes about a job.
///
/// samples/nested, by how many consecutive items a lane has, as many times as fast as one thread a
/// task (H200, 2026-11-23): with nothing to fetch (SpMV, rows of about 16) by 4 1.29, by 8 1.15;
/// with a state (diagonal, power law) by 4 2.90, by 8 3.08, by 16 3.16; lists anywhere (task sizes)
/// by 4 0.73, by 8 1.00, by 16 1.24.
///
/// What is `large` is walked step by step instead, an item a lane: lanes then read what lies side
/// by side, and 32 registers are enough where portions take 53. U-list by portions and by steps,
/// ms: 7.8 and 6.4, 5.4 and 4.3, 9.8 and 8.5, 6.5 and 5.3; quadrature 9.8 and 9.6 (H200,
/// 2026-11-24).
template <class Job, bool SCANNED>
struct pace {
    /// Whether an item needs what its task has, so that this is fetched.
    static constexpr bool fetches = !SCANNED || !same<decltype(Job::state), pack<>>;
    static constexpr bool large = sizeof(Job) > 64 || sizeof(Job::state) > 8;
    /// How many items a lane runs side by side, so that loads of one need not wait for another's.
    static constexpr unsigned ahead = large ? 1 : 4;
    /// The same where all lanes are inside of one list.
    static constexpr unsigned inside = large ? 1 : 8;
    /// How many consecutive items it has in a portion: more where a portion costs more, but few
    /// where it is loads that count, which are farther apart for it.
    static constexpr unsigned most = !Job::reduces || !fetches ? 4 : SCANNED ? 8 : 16;
    /// Of how many items lists that are about equally long are still done by a thread each: of more
    /// where a value is wide, so that it takes longer than the index that leads to it.
    ///
    /// By a thread, by 2 and by 8 lanes, us: rows of 9 items 66, 82, 138 (SpMV), 51, 69, 139
    /// (PageRank) and 56, 65, 109 (diagonal); of 17 90, 93, 145 and 61, 70, 148 and 74, 76, 117; of
    /// 33 85, 84, 80 and 49, 52, 72 and 56, 54, 59; of 201 107, 96, 66 and 61, 58, 47 and 58, 52, 48;
    /// of 16 anywhere 199, 214, 198 and 180, 188, 180 and 59, 39, 56 (H200, 2026-11-24).
    static constexpr unsigned few = fetches ? 12 : sizeof(Job::value) > 4 ? 48 : 16;
    /// How many items a warp has at least for which the warps of a block meet, and how many more than
    /// the mean, in eighths of that, for which they share.
    ///
    /// By 1024 and by 4096, ms: 0.50 and 0.55 (breadth-first search); of power-law rows, 0.106 and
    /// 0.102 (PageRank), 0.103 and 0.104 (SpMV). Quadrature in blocks of 128 by 256 and 12 10.8, by 128
    /// and 10 8.8 (H200, 2026-11-23).
    static constexpr unsigned worth = large ? 128 : Job::reduces ? 4096 : 1024;
    static constexpr unsigned uneven = large ? 10 : 12;
};

// One thread a task -------------------------------------------------------------------------------

template <class Job>
__device__ __forceinline__ void alone(Job& job)
{
    job.source.each(job.count, [&](auto index) {
        [[maybe_unused]] const auto value = job.mapped(index, job.state);
        if constexpr (Job::reduces) job.add(value);
    });
}

// Lists in turn -----------------------------------------------------------------------------------

/// Groups of LANES lanes of a whole warp, which take tasks side by side: consecutive ones.
template <unsigned LANES>
struct groups {
    static constexpr unsigned mask = ALL, lanes = LANES, turns = LANES, count = 32 / LANES;
    unsigned place = lane_number() % LANES;

    __device__ unsigned owner(unsigned turn) const { return turn * count + lane_number() / LANES; }
    __device__ bool is_mine(unsigned turn) const { return lane_number() / count == turn; }
    /// The first lane of the group that takes the task of this one.
    __device__ unsigned first() const { return lane_number() % count * LANES; }

    /// The reduction, in order, of what the first `some` lanes of a group have, on the first.
    template <class T, class Reduce>
    __device__ __forceinline__ T reduced(T value, unsigned some, Reduce& reduce) const
    {
        #pragma unroll
        for (unsigned step = 1; step < LANES; step *= 2) {
            const auto shuffle = [=](unsigned word) { return __shfl_down_sync(ALL, word, step); };
            const T behind = detail::shuffled(value, shuffle);
            if (place + step < some) value = reduce(value, behind);
        }
        return value;
    }
};

/// Those of a warp who are here, as one group: they know nothing of the others.
struct some_lanes {
    unsigned mask, lanes, turns, place;

    __device__ explicit some_lanes(unsigned members) : mask(members)
    {
        turns = lanes = __popc(members);
        place = __popc(members & ((1u << lane_number()) - 1));
    }
    __device__ unsigned owner(unsigned turn) const { return nth_bit(mask, turn); }
    __device__ bool is_mine(unsigned turn) const { return place == turn; }
    __device__ unsigned first() const { return __ffs(mask) - 1; }
    __device__ unsigned next() const { return nth_bit(mask, (place + 1) % lanes); }
    template <class T, class Reduce>
    __device__ __forceinline__ T reduced(T value, unsigned some, Reduce& reduce) const
    {
        unsigned lane = next();
        #pragma unroll 1
        for (unsigned step = 1; step < some; step *= 2) {
            const T behind = detail::from_lane(mask, value, lane);
            if (place + step < some) value = reduce(value, behind);
            lane = __shfl_sync(mask, lane, lane);
        }
        return value;
    }
};

/// Add what the groups have of the `count` next items of their tasks to what the owners have.
template <class Groups, class Job, class Value, class size>
__device__ __forceinline__ void
hand_over(const Groups& group, Job& job, const Value& value, unsigned turn, size count)
{
    const unsigned here = count < group.lanes ? unsigned(count) : group.lanes;
    const Value sum = group.reduced(value, here, job.reduce);
    const Value mine = detail::from_lane(group.mask, sum, group.first());
    const unsigned some = __shfl_sync(group.mask, here, group.first());
    if (some && group.is_mine(turn)) job.add(mine);
}

/// Groups of lanes take the tasks of all of them in turn.
template <class Groups, class Job>
__device__ __forceinline__ void in_turn(const Groups& group, Job& job)
{
    using size = typename Job::size;
    [[maybe_unused]] constexpr unsigned AHEAD = pace<Job, false>::ahead;
    const unsigned mask = group.mask, lanes = group.lanes, place = group.place;
    #pragma unroll 1
    for (unsigned turn = 0; turn < group.turns; ++turn) {
        const unsigned owner = group.owner(turn);
        const size count = detail::from_lane(mask, job.count, owner);
        if (!__any_sync(mask, count != 0)) continue;
        const auto source = detail::from_lane(mask, job.source, owner);
        const auto state = job.state.of(mask, owner);
        const size steps = count > place ? (count - place - 1) / lanes + 1 : 0;
        if constexpr (!Job::reduces) {
            for (size k = 0; k < steps; ++k) job.mapped(source.at(k * lanes + place), state);
        } else if constexpr (Job::commutes) {
            auto value = job.value;
            if (steps) value = job.mapped(source.at(place), state);
            #pragma unroll AHEAD  // ptxas would unroll it further, for lists that are longer
            for (size k = 1; k < steps; ++k)
                value = job.reduce(value, job.mapped(source.at(k * lanes + place), state));
            detail::hand_over(group, job, value, turn, count);
        } else {
            for (size k = 0; __any_sync(mask, k < count); k += lanes) {
                auto value = job.value;
                if (k + place < count) value = job.mapped(source.at(k + place), state);
                detail::hand_over(group, job, value, turn, k < count ? count - k : 0);
            }
        }
    }
}

// The joined list ---------------------------------------------------------------------------------

/// What is left unmade until something is assigned to it, as closures cannot be made of nothing.
template <class T>
union unmade {
    T made;
    char nothing;
    __device__ unmade() : nothing() {}
};

/// A piece of the joined list, of which each lane has as many items as any other, but for one.
struct portion {
    unsigned first, each, more;

    __device__ portion(unsigned first, unsigned count)
        : first(first), each(count / 32), more(count % 32)
    {
    }
    __device__ unsigned end() const { return first + 32 * each + more; }
    __device__ unsigned last_lane() const { return each ? 31 : more - 1; }
    /// The first item of a lane.
    __device__ unsigned begin(unsigned lane) const
    {
        return first + lane * each + (lane < more ? lane : more);
    }
    /// Who has an item.
    __device__ unsigned lane_of(unsigned item) const
    {
        const unsigned k = item - first;
        const bool early = k < more * (each + 1);
        return (early ? k : k - more) / (early ? each + 1 : each);
    }
};

/// One walk of a warp through its joined list, which has fewer than 2^32 items.
///
/// Portion by portion, each lane goes through consecutive items, and reduces by itself what it has
/// of a list. Where a list ends, its owner fetches that; what the lanes before have of it follows
/// behind the portion. With much to fetch for an item, each lane has one at a time. Inside of one
/// long list, all lanes step through that together if the order of its values may change.
///
/// Lists that have items are numbered in their order. From beginning to end, lane n holds what map
/// must know of list n, whoever that is of: so an item, which knows the number of its list, fetches
/// that at once, without the owner being fetched before. Lanes behind the last list hold that of any
/// other lane, and nobody asks them.
template <bool SCANNED, class Job>
struct joined_walk {
    using Source = decltype(Job::source);
    using State = decltype(Job::state);
    using Value = decltype(Job::value);
    using Handle = plain<decltype(a<const Job&>().handle())>;
    using Pace = pace<Job, SCANNED>;

    Job& job;
    unsigned start, end, total;  // of the own list in the joined one, and how long that is
    unsigned end_of;             // of the list whose number is the lane's, in the joined one
    Source source_of;            // of which item k is item k of the joined list, if that is of it
    unmade<Handle> handle_of;    // of its state
    unsigned item, list, stop;   // what this lane runs next, whose that is, and where that ends
    unmade<Value> sum;           // what it has of that list

    __device__ __forceinline__ joined_walk(Job& job, unsigned length)
        : job(job), source_of(job.source)
    {
        place_lists(length);
        const unsigned some = __ballot_sync(ALL, length != 0);
        const unsigned owner = some == ALL ? lane_number() : nth_bit(some, lane_number());
        end_of = __shfl_sync(ALL, end, owner);
        if (lane_number() >= __popc(some)) end_of = ALL;
        const Source own = job.source.moved(start);
        if constexpr (SCANNED) detail::assign(source_of, own);
        else detail::assign(source_of, detail::from_lane(ALL, own, owner));
        detail::assign(handle_of.made, job.handle().of(ALL, owner));
    }

    __device__ __forceinline__ void place_lists(unsigned length)
    {
        if constexpr (SCANNED) {
            start = unsigned(job.source.first - __shfl_sync(ALL, job.source.first, 0));
            end = start + length;
        } else {
            end = length;
            #pragma unroll
            for (unsigned step = 1; step < 32; step *= 2) {
                const unsigned before = __shfl_up_sync(ALL, end, step);
                if (lane_number() >= step) end += before;
            }
            start = end - length;
        }
        total = __shfl_sync(ALL, end, 31);
    }

    __device__ __forceinline__ void run()
    {
        if constexpr (!Job::reduces && !Pace::fetches) return run_all();
        for (unsigned first = 0; first < total;) {
            if constexpr (Job::commutes || !Job::reduces) {
                const bool all = start <= first && first + 32 * Pace::inside <= end;
                const unsigned owner = __ballot_sync(ALL, all);
                if (owner) {
                    first = run_inside(first, __ffs(owner) - 1);
                    continue;
                }
            }
            if constexpr (Pace::large) first = run_step(first);
            else first = run_portion(first);
        }
    }

    /// Run all items where none needs to know whose it is.
    __device__ __forceinline__ void run_all()
    {
        for (unsigned k = lane_number(); k < total; k += 32) job.mapped(source_of.at(k), job.state);
    }

    /// Run what is left of one list, but for fewer than `inside` items a lane; where that ends.
    __device__ __forceinline__ unsigned run_inside(unsigned first, unsigned owner)
    {
        constexpr unsigned COUNT = Pace::inside;
        const unsigned times = (__shfl_sync(ALL, end, owner) - first) / (32 * COUNT);
        const unsigned number = __popc(__ballot_sync(ALL, end_of <= first));
        const Source from = source_in(number);
        const State with = state_in(number);
        Value partial = job.value;
        from.template blocks<COUNT>(first + lane_number(), times, [&](unsigned time, auto index) {
            unmade<Value> value[COUNT];
            #pragma unroll
            for (unsigned w = 0; w < COUNT; ++w)
                detail::assign(value[w].made, job.mapped(index(w), with));
            if constexpr (Job::reduces) {
                #pragma unroll
                for (unsigned w = 1; w < COUNT; ++w)
                    detail::assign(value[0].made, Value(job.reduce(value[0].made, value[w].made)));
                partial = time ? Value(job.reduce(partial, value[0].made)) : value[0].made;
            }
        });
        if constexpr (Job::reduces) {
            partial = detail::from_lane(ALL, groups<32>().reduced(partial, 32, job.reduce), 0);
            if (lane_number() == owner) job.add(partial);
        }
        return first + times * 32 * COUNT;
    }

    /// Run the next 32 items, one by each lane; where they end.
    __device__ __forceinline__ unsigned run_step(unsigned first)
    {
        const unsigned lane = lane_number(), left = total - first, here = left < 32 ? left : 32;
        const unsigned place = start - first;  // of the first item, if that is one of these
        const bool has = start < end;
        const unsigned before = __popc(__ballot_sync(ALL, has && start < first));
        const unsigned begins = bits_of_all(has && place < 32 ? 1u << place : 0);
        const unsigned up_to_here = ALL >> (31 - lane);
        const unsigned list = before + __popc(begins & up_to_here) - 1;
        const unsigned next = __ffs(begins & ~up_to_here);

        const Source source = source_in(list);
        const State state = state_in(list);
        [[maybe_unused]] Value value = job.value;
        if (lane < here) {
            if constexpr (Job::reduces) value = job.mapped(source.at(first + lane), state);
            else job.mapped(source.at(first + lane), state);
        }
        if constexpr (Job::reduces) {
            value = groups<32>().reduced(value, next ? next - 1 : here, job.reduce);
            const unsigned from = start < first ? 0 : place;
            const Value mine = detail::from_lane(ALL, value, from);
            if (has && from < 32 && end > first) job.add(mine);
        }
        return first + here;
    }

    /// Run the next items, about as many by each lane; where they end.
    __device__ __forceinline__ unsigned run_portion(unsigned first)
    {
        const unsigned left = total - first;
        const portion part(first, left < 32 * Pace::most ? left : 32 * Pace::most);
        item = part.begin(lane_number());
        find_list();

        const bool ends = start < end && first < end && end <= part.end();
        const unsigned from = ends ? part.lane_of(end - 1) : part.last_lane();
        const unsigned wanted = ends ? end - 1 - part.begin(from) : ALL;
        unmade<Value> found;  // what the lane with the last item of the own list has of that
        const auto fetch = [&](unsigned step) {
            const Value there = detail::from_lane(ALL, sum.made, from);
            if (step == wanted) detail::assign(found.made, there);
        };
        unsigned step = 0;
        if constexpr (Pace::ahead > 1) {
            #pragma unroll 1
            for (; step + Pace::ahead <= part.each; step += Pace::ahead)
                run_items<Pace::ahead>(true, step, fetch);
        }
        const bool one_more = lane_number() < part.more;
        #pragma unroll 1
        for (; step < part.each + (part.more != 0); ++step)
            run_items<1>(step < part.each || one_more, step, fetch);

        if constexpr (Job::reduces) {
            reduce_along(part.each || one_more);
            const unsigned before = ends ? from - 1 : from;
            const Value rest = detail::from_lane(ALL, sum.made, before);
            const unsigned begin = part.begin(from);
            const bool split = begin > first && begin > start;  // lanes before have some of it
            if (ends) job.add(split ? Value(job.reduce(rest, found.made)) : found.made);
            else if (start < part.end() && part.end() < end) job.add(rest);
        }
        return part.end();
    }

    /// Stand before the list of the next item: the first one that ends behind it.
    __device__ __forceinline__ void find_list()
    {
        list = 0;
        #pragma unroll
        for (unsigned step = 16; step; step /= 2)
            if (__shfl_sync(ALL, end_of, list + step - 1) <= item) list += step;
        --list;
        stop = item;
    }

    /// Run the next COUNT items of all lanes, or of those that have one more.
    template <unsigned COUNT, class Fetch>
    __device__ __forceinline__ void run_items(bool runs, unsigned step, Fetch& fetch)
    {
        bool begins[COUNT];  // whether a list does, with an item
        unmade<Value> value[COUNT];
        unmade<Source> source[COUNT];
        unmade<State> state[COUNT];
        #pragma unroll
        for (unsigned w = 0; w < COUNT; ++w) {
            begins[w] = runs && item + w == stop;
            list += begins[w];
            stop = __shfl_sync(ALL, end_of, list);
            detail::assign(source[w].made, source_in(list));
            detail::assign(state[w].made, state_in(list));
        }
        if (runs) {
            #pragma unroll
            for (unsigned w = 0; w < COUNT; ++w) {
                const auto index =
                    SCANNED ? source[w].made.at(item, w) : source[w].made.at(item + w);
                detail::assign(value[w].made, job.mapped(index, state[w].made));
            }
            item += COUNT;
        }
        if constexpr (Job::reduces) {
            #pragma unroll
            for (unsigned w = 0; w < COUNT; ++w) {
                if (begins[w]) detail::assign(sum.made, value[w].made);
                else if (runs) detail::assign(sum.made, Value(job.reduce(sum.made, value[w].made)));
                fetch(step + w);
            }
        }
    }

    /// What map must know of a list. All lanes ask, each for one of its own choice.
    __device__ __forceinline__ Source source_in(unsigned number) const
    {
        if constexpr (SCANNED) return source_of;
        else return detail::from_lane(ALL, source_of, number);
    }
    __device__ __forceinline__ State state_in(unsigned number) const
    {
        return job.state_of(handle_of.made.of(ALL, number));
    }

    /// Reduce what the lanes have of the last lists of theirs, each with what those before it have.
    __device__ __forceinline__ void reduce_along(bool has)
    {
        const unsigned which = has ? list : ALL;
        #pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) {
            const bool same = __shfl_up_sync(ALL, which, step) == which;
            const bool longer = has && same && lane_number() >= step;
            if (!__any_sync(ALL, longer)) break;
            const Value before = detail::before(sum.made, step);
            if (longer) detail::assign(sum.made, Value(job.reduce(before, sum.made)));
        }
    }
};

/// Whether the own list, if lists are SCANNED, ends where that of the next lane begins.
///
/// Where somebody has been told so wrongly, the lists are taken in turn.
template <bool SCANNED, class Job>
__device__ __forceinline__ bool joins(const Job& job)
{
    if constexpr (SCANNED) {
        const auto next = __shfl_down_sync(ALL, job.source.first, 1);
        return lane_number() == 31 || job.source.at(job.count) == next;
    }
    return true;
}

/// A whole warp walks its joined list, or takes its lists in turn if they are too long to be joined,
/// or do not join though they should.
template <bool SCANNED, class Job>
__device__ __forceinline__ void together(Job& job)
{
    if (__all_sync(ALL, job.count < LONG && joins<SCANNED>(job)))
        joined_walk<SCANNED, Job>(job, unsigned(job.count)).run();
    else in_turn(groups<32>(), job);
}

/// A warp of which some are missing takes its lists in turn if one of them is long. With much to
/// fetch, each lane goes through its own list: what it takes to go by turns there would cost the
/// whole warps registers (U-list 46 for 32, by which it takes 6 to 16 % longer).
template <class Job>
__device__ __forceinline__ void in_part(unsigned members, Job& job)
{
    if constexpr (!pace<Job, false>::large) {
        if (__any_sync(members, job.count >= 128)) return in_turn(some_lanes(members), job);
    }
    alone(job);
}

template <int BLOCK>
__device__ __forceinline__ bool is_whole(unsigned members)
{
    return (BLOCK == unknown || BLOCK >= 32) && members == ALL;
}

/// What a whole warp does, or in part what is left of one.
///
/// Whole ones branch off first, so that their masks are constants: with any other, ptxas has to
/// allow for lanes that are not named, on some architectures by a MATCH at each vote and shuffle.
template <int BLOCK, class Job, class Whole>
__device__ __forceinline__ void by_members(Job& job, Whole whole)
{
    const unsigned members = __activemask();
    if (__builtin_expect(is_whole<BLOCK>(members), true)) {
        __syncwarp();  // what lanes wrote before is seen by whoever runs their items
        whole();
        __syncwarp();  // and what those wrote, by them
    } else {
        __syncwarp(members);
        in_part(members, job);
        __syncwarp(members);
    }
}

// Which of them -----------------------------------------------------------------------------------

/// Lists of so many items are not told from longer ones where it is asked how even they are.
constexpr unsigned MANY = 1u << 21;

/// The longest of the lists of a whole warp, and the sum of them; of another, the lane's own.
struct sizes {
    unsigned most, sum;

    template <class size>
    __device__ __forceinline__ explicit sizes(size count, bool whole = true)
    {
        most = sum = count < MANY ? unsigned(count) : MANY;
        if (!whole) return;
#if __CUDA_ARCH__ >= 800
        most = __reduce_max_sync(ALL, most);
        sum = __reduce_add_sync(ALL, sum);
#else
        #pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) {
            const unsigned other = __shfl_xor_sync(ALL, most, step);
            most = other > most ? other : most;
            sum += __shfl_xor_sync(ALL, sum, step);
        }
#endif
    }
};

/// A whole warp does what its lists, `of` these sizes, are best done by.
///
/// Short ones by a thread each, and even ones by a thread, two or eight lanes each. Of others the
/// joined list is walked. With much to fetch, a step of that costs more than one of 16 lanes through
/// a list, and fewer steps make up for it where lists are short: so those of 20 items and more on the
/// average go by 16 lanes, and even ones, but not where one list is most of all. By 16 lanes and by
/// steps, ms: U-list 6.7 and 6.4, 4.6 and 4.3, 8.5 and 8.5, 5.4 and 5.3, quadrature 10.0 and 9.6
/// (H200, 2026-11-24); 9.1 and 10.0, 6.1 and 6.5, 13.2 and 13.9, 7.5 and 8.1, 9.9 and 9.6 (H100).
template <bool SCANNED, class Job>
__device__ __forceinline__ void by_sizes(Job& job, const sizes& of)
{
    using Pace = pace<Job, SCANNED>;
    constexpr unsigned EVEN = Pace::fetches && Job::reduces ? 7 : 5;  // fourths of the mean
    const bool even = !Pace::large && 4 * 32 * of.most <= EVEN * of.sum;
    if (of.most <= 8 || (even && of.sum <= 32 * Pace::few)) return alone(job);
    if constexpr (Pace::large) {
        const bool fill = 5 * 32 * of.most <= 6 * of.sum || of.sum >= 32 * 20;
        if (fill && 2 * of.most <= of.sum) return in_turn(groups<16>(), job);
    } else if (even) {
        if (of.sum > 32 * 40 && of.sum > 32 * Pace::few) return in_turn(groups<8>(), job);
        return in_turn(groups<2>(), job);
    }
    together<SCANNED>(job);
}

// The block ---------------------------------------------------------------------------------------

/// Values in shared memory, which has no constructors.
template <class T, unsigned COUNT>
struct cells {
    struct alignas(T) cell {
        unsigned char bytes[sizeof(T)];
    };
    cell all[COUNT];

    __device__ __forceinline__ void put(unsigned place, const T& value)
    {
        memcpy(&all[place], &value, sizeof(T));
    }
    __device__ __forceinline__ T at(unsigned place) const
    {
        unmade<T> value;
        memcpy(static_cast<void*>(&value.made), &all[place], sizeof(T));
        return value.made;
    }
};

/// Where nothing is kept.
struct no_cells {
    template <class T>
    __device__ void put(unsigned, const T&)
    {
    }
};

template <bool, class T, unsigned COUNT>
struct cells_if {
    using type = no_cells;
};
template <class T, unsigned COUNT>
struct cells_if<true, T, COUNT> {
    using type = cells<T, COUNT>;
};

/// What the tasks of a block may take of shared memory: if all at once take more, they are done some
/// after the others.
constexpr unsigned BOARD = 16384;

/// What the warps of a block tell one another, in shared memory.
template <int BLOCK, bool SCANNED, class Source, class Value, class State>
struct board {
    static constexpr bool has_sources = !SCANNED, has_states = !same<State, pack<>>,
                          has_values = !same<Value, none>;
    static constexpr unsigned all_warps = (BLOCK + 31) / 32, warps = BLOCK / 32;
    static constexpr unsigned a_task = sizeof(unsigned) + has_sources * sizeof(Source) +
                                       has_states * sizeof(State) + has_values * sizeof(Value);
    static constexpr unsigned room = BOARD / a_task / 32 * 32;
    /// How many tasks are done at once, 32 or more.
    static constexpr unsigned tasks = room < 32 * all_warps ? room : 32 * all_warps;

    unsigned totals[all_warps];  // of the warps
    unsigned ends[tasks];        // of the lists in the joined one
    typename cells_if<SCANNED, Source, 1>::type first;  // of the first thread
    typename cells_if<has_sources, Source, tasks>::type sources;
    typename cells_if<has_states, State, tasks>::type states;
    typename cells_if<has_values, Value, tasks>::type sums;  // of lists, where they begin
    typename cells_if<has_values, Value, warps>::type rests;  // of what began before a warp's piece
};

template <int BLOCK, bool SCANNED, class Job>
using board_of = board<BLOCK, SCANNED, decltype(Job::source), decltype(Job::value),
                       decltype(Job::state)>;

/// The part of a job that lies in the piece of a warp, with the place of the lane's state on the
/// board. It has no value before it has items.
template <class Board, class Job>
struct part_of : Job {
    const Board& board;
    unsigned place;
    bool has;

    __device__ __forceinline__ auto handle() const
    {
        if constexpr (Board::has_states) return detail::packed(place);
        else return pack<>();
    }
    __device__ __forceinline__ pack<> state_of(pack<>) const { return {}; }
    __device__ __forceinline__ decltype(Job::state) state_of(const pack<unsigned>& handle) const
    {
        return board.states.at(handle.first);
    }
    __device__ __forceinline__ void add(const decltype(Job::value)& more)
    {
        if (has) Job::add(more);
        else assign(this->value, more);
        has = true;
    }
};

template <class Board, class Job, bool SCANNED>
struct pace<part_of<Board, Job>, SCANNED> : pace<Job, SCANNED> {};

/// The number of the thread in its block.
__device__ __forceinline__ unsigned thread_number()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ unsigned threads_of_block()
{
    return blockDim.x * blockDim.y * blockDim.z;
}

/// One walk of a block through the joined list of its threads, which has fewer than 2^31 items.
///
/// It is cut into pieces, one for each warp and as long as any other, which the warp walks by 32 lists
/// at a time. What it has of a list goes to the list's owner by way of shared memory. More pieces, of
/// which a warp takes one after the other, were no gain: by 1, 4 and 16 for each, quadrature 8.8, 8.7
/// and 8.7 ms, u_list 0.45, 0.49 and 0.49 ms (H200, 2026-11-23).
template <int BLOCK, bool SCANNED, class Job>
struct block_walk {
    using Board = board_of<BLOCK, SCANNED, Job>;
    using Source = decltype(Job::source);
    using Value = decltype(Job::value);

    Job& job;
    Board& board;
    unsigned thread = thread_number(), warp = thread / 32;
    unsigned mask = BLOCK % 32 && warp == Board::warps ? (1u << BLOCK % 32) - 1 : ALL;
    unsigned start, end;  // of the own list in the joined one

    __device__ __forceinline__ block_walk(Job& job, Board& board) : job(job), board(board) {}

    /// Whether that has been done; else nothing has.
    __device__ __forceinline__ bool run()
    {
        // Some have returned, or the block has another size: as many may be left of a larger one.
        if (__syncthreads_count(threads_of_block() == BLOCK) != BLOCK) return false;
        place_in_warp();
        if (!__syncthreads_and(total_fits())) return false;
        if (!place_in_block()) return false;
        unsigned from = 0;
        #pragma unroll 1
        for (unsigned first = 0; first < BLOCK; first += Board::tasks) {
            if (!tell(first)) return false;
            const unsigned left = BLOCK - first;
            from = run_some(first, left < Board::tasks ? left : Board::tasks, from);
        }
        return true;
    }

    __device__ __forceinline__ void place_in_warp()
    {
        end = job.count < LONG ? unsigned(job.count) : LONG;
        #pragma unroll
        for (unsigned step = 1; step < 32; step *= 2) {
            const unsigned before = __shfl_up_sync(mask, end, step);
            if (lane_number() >= step) end += before;
        }
    }

    /// Tell the total of the warp; whether that of all warps is less than 2^31.
    __device__ __forceinline__ bool total_fits()
    {
        if (thread % 32 == 31 || thread == BLOCK - 1) board.totals[warp] = end;
        if (thread == 0) board.first.put(0, job.source);
        return job.count < LONG && end < LONG;
    }

    /// Whether one warp has so much more to do than the others that all should take part.
    __device__ __forceinline__ bool place_in_block()
    {
        unsigned before = 0, most = 0, sum = 0;
        #pragma unroll 4
        for (unsigned w = 0; w < Board::all_warps; ++w) {
            const unsigned total = board.totals[w];
            if (w < warp) before += total;
            if (total > most) most = total;
            sum += total;
        }
        start = before + end - unsigned(job.count);
        end += before;
        return Board::warps * (most / 2) > sum / 16 * pace<Job, SCANNED>::uneven;
    }

    /// Tell the own list, if it is one of those from `first` on; whether lists are as they are said
    /// to be.
    __device__ __forceinline__ bool tell(unsigned first)
    {
        const unsigned place = thread - first;
        if (place < Board::tasks) {
            board.ends[place] = end;
            board.sources.put(place, job.source);
            board.states.put(place, job.state);
        }
        if constexpr (SCANNED) {
            const auto joined = board.first.at(0).at(start);
            return __syncthreads_and(joined == job.source.first);
        }
        __syncthreads();
        return true;
    }

    /// Run `count` lists from `first` on, which begin at item `from` of the joined one; where they
    /// end.
    __device__ __forceinline__ unsigned run_some(unsigned first, unsigned count, unsigned from)
    {
        const unsigned to = board.ends[count - 1];
        constexpr unsigned PORTIONS = 32 * Board::warps;
        const unsigned each = (to - from + PORTIONS - 1) / PORTIONS * 32;
        const unsigned begin = from + warp * each;
        if (warp < Board::warps && begin < to) {
            run_piece(count, from, begin, to - begin < each ? to : begin + each);
        }
        __syncthreads();
        if constexpr (Job::reduces) {
            const unsigned place = thread - first;
            if (place < count && start < end) {
                job.add(board.sums.at(place));
                const unsigned last = (end - 1 - from) / each;
                for (unsigned w = (start - from) / each; w < last;) job.add(board.rests.at(++w));
            }
        }
        return to;
    }

    /// Run the warp's piece.
    __device__ __forceinline__ void
    run_piece(unsigned count, unsigned from, unsigned begin, unsigned stop)
    {
        constexpr unsigned EACH = Board::tasks / 32;
        const unsigned sample = lane_number() * EACH + EACH - 1;
        const bool done = board.ends[sample < count ? sample : count - 1] <= begin;
        unsigned place = __popc(__ballot_sync(ALL, done)) * EACH + lane_number();
        #pragma unroll 1
        for (;; place += 32) {
            const unsigned there = place < count ? place : count - 1;
            const unsigned last = board.ends[there];
            const unsigned first = place == 0 ? from : place > there ? last : board.ends[there - 1];
            run_lists(there, first, last, begin, stop);
            if (__shfl_sync(ALL, last, 31) >= stop) break;
        }
    }

    /// Run what 32 lists have in the piece; the lane's goes from `first` to before `last`.
    __device__ __forceinline__ void
    run_lists(unsigned place, unsigned first, unsigned last, unsigned begin, unsigned stop)
    {
        const unsigned here = first < begin ? begin : first < stop ? first : stop;
        const unsigned end_here = last < begin ? begin : last < stop ? last : stop;
        part_of<Board, Job> part{job, board, place, false};
        if constexpr (SCANNED) assign(part.source, board.first.at(0).moved(-typename Job::size(here)));
        else assign(part.source, board.sources.at(place).moved(-typename Job::size(here - first)));
        joined_walk<SCANNED, part_of<Board, Job>>(part, end_here - here).run();
        if constexpr (Job::reduces) {
            if (!part.has) return;
            if (first < begin) board.rests.put(warp, part.value);
            else board.sums.put(place, part.value);
        }
    }
};

/// The warps of a block go on by themselves, or all together if one of them has a long list.
template <int BLOCK, bool SCANNED, class Job>
__device__ __forceinline__ void by_block(Job& job)
{
    __shared__ board_of<BLOCK, SCANNED, Job> board;
    __syncwarp();
    const unsigned members = __activemask();
    const bool whole = members == ALL;
    const sizes of(job.count, whole);
    const bool little = of.sum < pace<Job, SCANNED>::worth;
    const bool shares = __syncthreads_count(little) != BLOCK;  // or some have returned
    if (shares && block_walk<BLOCK, SCANNED, Job>(job, board).run()) return;
    if (whole) {
        by_sizes<SCANNED>(job, of);
        __syncwarp();
    } else {
        in_part(members, job);
        __syncwarp(members);
    }
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
        by_members<BLOCK>(job, [&] { together<SCANNED>(job); });
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
        in_turn(groups<LANES>(), job);
        __syncwarp();
    }
};

template <>
struct by<automatic> {
    template <int BLOCK, bool SCANNED, class Job>
    __device__ __forceinline__ static void run(Job& job)
    {
        by_members<BLOCK>(job, [&] { by_sizes<SCANNED>(job, sizes(job.count)); });
    }
};

template <>
struct by<block> {
    template <int BLOCK, bool SCANNED, class Job>
    __device__ __forceinline__ static void run(Job& job)
    {
        static_assert(BLOCK != unknown, "cte::block is told how many threads the block has");
        if constexpr (BLOCK < 64) by<automatic>::run<BLOCK, SCANNED>(job);
        else by_block<BLOCK, SCANNED>(job);
    }
};

// What a user hands over --------------------------------------------------------------------------

/// A source of indices and how many it has.
template <class Source>
struct tasks {
    Source source;
    typename Source::size count;
};

template <class T>
constexpr bool is_tasks = false;
template <class Source>
constexpr bool is_tasks<tasks<Source>> = true;

template <class Index>
struct source_of {
    using type = consecutive<Index>;
};
template <class Source>
struct source_of<tasks<Source>> {
    using type = Source;
};

template <int BLOCK, bool SCANNED, class Index, class Value, class State>
constexpr int bytes_of_board()
{
    using Source = typename source_of<Index>::type;
    using Work = job<Source, none, none, Value, State>;
    return BLOCK < 64 ? shared_bytes : int(sizeof(board_of<BLOCK, SCANNED, Work>));
}

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
    return detail::tasks<Source>{Source(first, by), some ? (way - 1) / step + 1 : 0};
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
    return detail::tasks<Source>{Source(kth, 0), count > 0 ? size(count) : 0};
}

// What a call takes -------------------------------------------------------------------------------

/// How many bytes of shared memory a call takes: of indices from a begin to an end, or of what
/// cte::strided and cte::listed return, with these values, or none, and this state.
template <class Decomposition, int BLOCK, class Lists, class Index, class Value = detail::none,
          class... State>
constexpr int shared_bytes_of = shared_bytes;

template <int BLOCK, class Lists, class Index, class Value, class... State>
constexpr int shared_bytes_of<block, BLOCK, Lists, Index, Value, State...> =
    detail::bytes_of_board<BLOCK, detail::same<Lists, scanned>, Index, Value,
                           detail::pack<State...>>();

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
    -> typename detail::enable<!detail::is_tasks<Begin>, Value>::type
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
    typename detail::enable<!detail::is_tasks<Begin>>::type
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
