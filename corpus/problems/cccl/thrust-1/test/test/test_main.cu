#include "ce_harness.hpp"
#include "sessionize.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using User = std::uint32_t;
using Time = std::int64_t;
using Amount = std::int32_t;

constexpr Time kMaxTime = (Time{1} << 62) - 1;
constexpr Time kMaxGap = std::numeric_limits<Time>::max();

struct Events {
  std::vector<User> user;
  std::vector<Time> time;
  std::vector<Amount> amount;
  std::size_t size() const { return user.size(); }
};

struct Expected {
  std::vector<std::uint32_t> user, first, events, session_of;
  std::vector<std::int64_t> begin, end, total;
};

// Exact integers throughout, hence compared bit by bit.
Expected oracle(const Events& e, Time max_gap) {
  std::vector<std::uint32_t> order(e.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (e.user[a] != e.user[b]) return e.user[a] < e.user[b];
    return e.time[a] != e.time[b] ? e.time[a] < e.time[b] : a < b;
  });
  Expected want;
  want.session_of.resize(e.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::uint32_t i = order[place];
    if (place == 0 || e.user[i] != want.user.back() || e.time[i] - want.end.back() > max_gap) {
      want.user.push_back(e.user[i]);
      want.first.push_back(i);
      want.begin.push_back(e.time[i]);
      want.end.push_back(e.time[i]);
      want.events.push_back(0);
      want.total.push_back(0);
    }
    want.end.back() = e.time[i];
    want.events.back() += 1;
    want.total.back() += e.amount[i];
    want.session_of[i] = static_cast<std::uint32_t>(want.user.size() - 1);
  }
  return want;
}

struct Output {
  ce::DeviceBuffer<std::uint32_t> user, first;
  ce::DeviceBuffer<std::int64_t> begin, end;
  ce::DeviceBuffer<std::uint32_t> events;
  ce::DeviceBuffer<std::int64_t> total;
  ce::DeviceBuffer<std::uint32_t> session_of;

  explicit Output(std::size_t n) : user(n), first(n), begin(n), end(n), events(n), total(n), session_of(n) {}
  Sessions sessions() {
    return {user.data(), first.data(), begin.data(), end.data(), events.data(), total.data()};
  }

  void check(std::size_t count, const Expected& want) const {
    CE_CHECK(count == want.user.size(), "returned %zu sessions, want %zu", count, want.user.size());
    check_one(user, want.user, "sessions.user");
    check_one(first, want.first, "sessions.first");
    check_one(begin, want.begin, "sessions.begin");
    check_one(end, want.end, "sessions.end");
    check_one(events, want.events, "sessions.events");
    check_one(total, want.total, "sessions.total");
    check_one(session_of, want.session_of, "session_of");
  }

 private:
  template <class T>
  static void check_one(const ce::DeviceBuffer<T>& buffer, const std::vector<T>& want, const char* name) {
    std::vector<T> got = buffer.download();
    got.resize(want.size());  // beyond the number of sessions anything may stand
    ce::expect_equal(got, want, name);
    buffer.check_guards(name);
  }
};

void check(const Events& e, Time max_gap) {
  const std::size_t n = e.size();
  const ce::DeviceBuffer<User> user(e.user);
  const ce::DeviceBuffer<Time> time(e.time);
  const ce::DeviceBuffer<Amount> amount(e.amount);
  Output out(n);
  const ce::Stream stream;
  std::size_t count = 0;
  CE_CALL(count = sessionize(user.data(), time.data(), amount.data(), n, max_gap, out.sessions(), out.session_of.data(),
                             stream));
  CE_CUDA(cudaStreamSynchronize(stream));
  out.check(count, oracle(e, max_gap));
  ce::expect_unchanged(user, e.user, "user");
  ce::expect_unchanged(time, e.time, "time");
  ce::expect_unchanged(amount, e.amount, "amount");
}

Events make_events(ce::Rng& rng, std::size_t n, User users, Time times) {
  return {rng.integer_vector<User>(n, 0, users - 1), rng.integer_vector<Time>(n, 0, times - 1),
          rng.integer_vector<Amount>(n, -1000, 1000)};
}

CE_TEST(no_events) {
  std::size_t count = 1;
  CE_CALL(count = sessionize(nullptr, nullptr, nullptr, 0, 10, Sessions{}, nullptr, nullptr));
  CE_CHECK(count == 0, "returned %zu sessions, want 0", count);
}

CE_TEST(sizes) {
  ce::Rng rng;
  for (const std::size_t n : {1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000, 1023, 1025, 4097, 65537}) {
    CE_SCOPE("n = %zu", n);
    check(make_events(rng, n, static_cast<User>(1 + n / 20), 100), 3);
  }
}

CE_TEST(gaps_of_exactly_max_gap) {
  ce::Rng rng;
  for (const Time max_gap : {0, 1, 2, 7}) {
    CE_SCOPE("max_gap = %lld", static_cast<long long>(max_gap));
    // Spread so that about half of the neighbours are max_gap apart or less.
    check(make_events(rng, 3000, 30, 100 * (max_gap + 1)), max_gap);
  }
}

CE_TEST(neighbouring_users_at_the_same_time) {
  ce::Rng rng;
  check(make_events(rng, 5000, 1000, 1), 0);
  check(make_events(rng, 5000, 1000, 2), kMaxGap);
}

CE_TEST(ties_keep_the_order_of_the_input) {
  ce::Rng rng;
  check(make_events(rng, 20000, 3, 5), 0);
  check(make_events(rng, 20000, 3, 5), 1);
  check(make_events(rng, 100001, 1, 1), 0);
}

CE_TEST(every_event_a_session) {
  ce::Rng rng;
  Events e = make_events(rng, 30001, 5, 1);
  for (std::size_t i = 0; i < e.size(); ++i) e.time[i] = static_cast<Time>(i) * 11;
  for (const bool mixed : {false, true}) {
    if (mixed) rng.shuffle(e.time);
    check(e, 10);
  }
}

CE_TEST(sorted_and_reversed) {
  ce::Rng rng;
  Events e = make_events(rng, 10000, 50, 500);
  std::sort(e.user.begin(), e.user.end());
  std::sort(e.time.begin(), e.time.end());
  check(e, 1);
  std::reverse(e.user.begin(), e.user.end());
  check(e, 1);
  std::reverse(e.time.begin(), e.time.end());
  check(e, 1);
}

CE_TEST(users_and_times_of_any_size) {
  ce::Rng rng;
  Events e = make_events(rng, 20000, 1, 1);
  const std::vector<User> users{0, 1, 0x7fffffffu, 0x80000000u, 0xffffffffu};
  const std::vector<Time> times{-kMaxTime, -kMaxTime + 1, -(Time{1} << 32), -1,      0,
                                1,         Time{1} << 31, Time{1} << 32,    kMaxTime};
  for (User& u : e.user) u = users[rng.integer<std::size_t>(0, users.size() - 1)];
  for (Time& t : e.time) t = times[rng.integer<std::size_t>(0, times.size() - 1)];
  for (const Time max_gap : {Time{0}, Time{1}, Time{2}, (Time{1} << 32) - 1, Time{1} << 32, kMaxTime, kMaxGap}) {
    CE_SCOPE("max_gap = %lld", static_cast<long long>(max_gap));
    check(e, max_gap);
  }
  for (User& u : e.user) u = rng.integer<User>(0, 0xffffffffu);
  for (Time& t : e.time) t = rng.integer<Time>(-kMaxTime, kMaxTime);
  check(e, 5);
}

CE_TEST(totals_beyond_32_bits) {
  ce::Rng rng;
  for (const Amount extreme : {std::numeric_limits<Amount>::max(), std::numeric_limits<Amount>::min()}) {
    Events e = make_events(rng, 40000, 4, 1000);
    std::fill(e.amount.begin(), e.amount.end(), extreme);
    check(e, 100);
  }
}

CE_TEST(large) {
  ce::Rng rng;
  const std::size_t n = ce::sanitized() ? 50000 : (std::size_t{1} << 20) + 4321;
  check(make_events(rng, n, 1, static_cast<Time>(n)), 2);
  check(make_events(rng, n, static_cast<User>(n / 3), 1000000), 200000);
}

// Keeps a stream busy for a while. A gate would not do, for the call may wait for the stream.
void delay(cudaStream_t stream) {
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  CE_CUDA(cudaLaunchHostFunc(stream, sleep, nullptr));
}

// The stream's earlier work produces the inputs.
CE_TEST(stream_order) {
  ce::Rng rng;
  const Events e = make_events(rng, 5000, 40, 1000), decoys = make_events(rng, 5000, 40, 1000);
  const ce::DeviceBuffer<User> user(e.user);
  const ce::DeviceBuffer<Time> time(e.time);
  const ce::DeviceBuffer<Amount> amount(e.amount);
  ce::DeviceBuffer<User> late_user(decoys.user);
  ce::DeviceBuffer<Time> late_time(decoys.time);
  ce::DeviceBuffer<Amount> late_amount(decoys.amount);
  Output out(e.size());
  const ce::Stream stream;
  delay(stream);
  CE_CUDA(cudaMemcpyAsync(late_user.data(), user.data(), user.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CUDA(cudaMemcpyAsync(late_time.data(), time.data(), time.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CUDA(cudaMemcpyAsync(late_amount.data(), amount.data(), amount.bytes(), cudaMemcpyDeviceToDevice, stream));
  std::size_t count = 0;
  CE_CALL(count = sessionize(late_user.data(), late_time.data(), late_amount.data(), e.size(), 20, out.sessions(),
                             out.session_of.data(), stream));
  CE_CUDA(cudaStreamSynchronize(stream));
  out.check(count, oracle(e, 20));
}

CE_BENCH(four_million_events) {
  ce::Rng rng;
  const int iterations = 10;
  const Events e = make_events(rng, std::size_t{1} << 22, 200000, 1000000);
  const Time max_gap = 30000;
  const ce::DeviceBuffer<User> user(e.user);
  const ce::DeviceBuffer<Time> time(e.time);
  const ce::DeviceBuffer<Amount> amount(e.amount);
  std::vector<std::size_t> counts(iterations + 1);
  std::vector<Output> outputs;
  for (int i = 0; i <= iterations; ++i) outputs.emplace_back(e.size());
  const ce::Stream stream;
  ce::timed("sessionize", iterations, [&](int i) {
    CE_CALL(counts[i] = sessionize(user.data(), time.data(), amount.data(), e.size(), max_gap, outputs[i].sessions(),
                                   outputs[i].session_of.data(), stream));
  });
  const Expected want = oracle(e, max_gap);
  for (int i = 0; i <= iterations; ++i) outputs[i].check(counts[i], want);
}

}  // namespace

int main(int argc, char** argv) { return ce::run(argc, argv); }
