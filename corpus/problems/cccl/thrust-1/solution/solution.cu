#include "sessionize.h"

#include <thrust/copy.h>
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system/system_error.h>
#include <thrust/tuple.h>

namespace {

using Index = std::uint32_t;  // of an event, or of a place in the sorted order

void check(cudaError_t error) {
  if (error != cudaSuccess) throw thrust::system_error(error, thrust::cuda_category());
}

// Device memory that lives in the order of one stream.
template <class T>
class Scratch {
 public:
  Scratch(std::size_t n, cudaStream_t stream) : stream_(stream) {
    check(cudaMallocAsync(&data_, n * sizeof(T), stream));
  }
  ~Scratch() { cudaFreeAsync(data_, stream_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
  cudaStream_t stream_;
};

// 1 where the event at a place of the sorted order begins a session, else 0.
struct Begins {
  const Index* order;
  const std::uint32_t* user;
  const std::int64_t* time;
  std::int64_t max_gap;
  __host__ __device__ Index operator()(Index place) const {
    if (place == 0) return 1;
    const Index here = order[place], before = order[place - 1];
    return user[here] != user[before] || time[here] - time[before] > max_gap;
  }
};

// One event's part in its session: itself and its amount.
struct Part {
  const Index* order;
  const std::int32_t* amount;
  __host__ __device__ thrust::tuple<std::uint32_t, std::int64_t> operator()(Index place) const {
    return {1u, std::int64_t{amount[order[place]]}};
  }
};

struct Add {
  template <class Tuple>
  __host__ __device__ Tuple operator()(const Tuple& a, const Tuple& b) const {
    return {thrust::get<0>(a) + thrust::get<0>(b), thrust::get<1>(a) + thrust::get<1>(b)};
  }
};

// Scatters a session's number to its events, and its edges to the session. Numbers count from 1 here.
struct Describe {
  const Index* order;
  const Index* number;
  const std::uint32_t* user;
  const std::int64_t* time;
  std::size_t n;
  Sessions sessions;
  std::uint32_t* session_of;
  __host__ __device__ void operator()(Index place) const {
    const Index event = order[place], session = number[place] - 1;
    session_of[event] = session;
    if (place == 0 || number[place - 1] != number[place]) {
      sessions.user[session] = user[event];
      sessions.first[session] = event;
      sessions.begin[session] = time[event];
    }
    if (place + 1 == n || number[place + 1] != number[place]) sessions.end[session] = time[event];
  }
};

}  // namespace

std::size_t sessionize(const std::uint32_t* user, const std::int64_t* time, const std::int32_t* amount, std::size_t n,
                       std::int64_t max_gap, const Sessions& sessions, std::uint32_t* session_of, cudaStream_t stream) {
  if (n == 0) return 0;
  const auto policy = thrust::cuda::par.on(stream);
  const thrust::counting_iterator<Index> places(0);

  // Least significant key first: both sorts are stable, so the second keeps the order of time and index.
  Scratch<Index> order(n, stream), number(n, stream);
  {
    Scratch<std::int64_t> time_key(n, stream);
    Scratch<std::uint32_t> user_key(n, stream);
    thrust::sequence(policy, order.get(), order.get() + n);
    thrust::copy(policy, time, time + n, time_key.get());
    thrust::stable_sort_by_key(policy, time_key.get(), time_key.get() + n, order.get());
    thrust::gather(policy, order.get(), order.get() + n, user, user_key.get());
    thrust::stable_sort_by_key(policy, user_key.get(), user_key.get() + n, order.get());
  }

  const auto begins = thrust::make_transform_iterator(places, Begins{order.get(), user, time, max_gap});
  thrust::inclusive_scan(policy, begins, begins + n, number.get());

  thrust::for_each_n(policy, places, n, Describe{order.get(), number.get(), user, time, n, sessions, session_of});
  const auto parts = thrust::make_transform_iterator(places, Part{order.get(), amount});
  const auto sums = thrust::make_zip_iterator(thrust::make_tuple(sessions.events, sessions.total));
  const auto ends = thrust::reduce_by_key(policy, number.get(), number.get() + n, parts,
                                          thrust::make_discard_iterator(), sums, thrust::equal_to<Index>{}, Add{});
  return ends.second - sums;
}
