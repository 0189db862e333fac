// What cte.cuh refuses; behind each call stands what it says of that.

#include <cte.cuh>

struct Barrier {
    __device__ void sync() const {}
};

struct Large {
    int words[17];
};

struct Copied {
    int value;
    __device__ Copied(int value) : value(value) {}
    __device__ Copied(const Copied& other) : value(other.value + 1) {}
};

__global__ void refused(int* out, int begin, int end)
{
    const auto map = [](int index) { return index; };
    const auto with_barrier = [](int index, Barrier) { return index; };
    const auto large = [](int) { return Large{}; };
    const auto copied = [](int index) { return Copied(index); };
    const auto add = [](auto a, auto) { return a; };
    out[0] = cte::for_each_index<cte::sub_warp<3>, 64>(begin, end, map, cte::plus(), 0);  // a sub-warp has 2, 4, 8, 16 or 32 lanes
    out[1] = cte::for_each_index<2000>(begin, end, map, cte::plus(), 0);  // a block has 1 to 1024 threads
    out[2] = cte::for_each_index<64, cte::warp>(begin, end, map, cte::plus(), 0);  // lists are cte::scanned or cte::disjoint
    out[3] = cte::for_each_index<64, cte::scanned>(cte::strided(begin, end, 2), map, cte::plus(), 0);  // cte::scanned is for a begin and an end
    out[4] = cte::for_each_index<64>(begin, end, map, cte::plus(), 0, 7);  // map is called with an index and with the state
    out[5] = cte::for_each_index<64>(begin, end, map, cte::plus(), 0.0);  // map returns what the initial value is
    out[6] = cte::for_each_index<64>(begin, end, map, [](int a) { return a; }, 0);  // reduce is called with two values
    out[7] = cte::for_each_index<64>(begin, end, with_barrier, cte::plus(), 0, Barrier());  // map must not meet other threads
    cte::for_each_index<64>(begin, end, large, add, Large{});  // have 64 bytes at most
    cte::for_each_index<64>(begin, end, copied, add, Copied(0));  // go from lane to lane as plain bytes
    out[8] = cte::for_each_index<cte::block>(begin, end, map, cte::plus(), 0);  // cte::block is told how many threads the block has
    cte::for_each<64>(1.0, 2.0, map);  // indices have 32 or 64 bits
    cte::for_each<64>(cte::listed(1.0, map), map);  // counts have 32 or 64 bits
}
