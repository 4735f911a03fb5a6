#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

// Device arrays with room for one element an event; element s describes session s.
struct Sessions {
  std::uint32_t* user;
  std::uint32_t* first;   // index of its first event
  std::int64_t* begin;    // time of its first event
  std::int64_t* end;      // time of its last event
  std::uint32_t* events;  // how many it has
  std::int64_t* total;    // sum of their amounts
};

// Groups n events into sessions and returns how many sessions there are.
//
// user, time, amount  device, n elements each
// max_gap             largest difference in time between neighbouring events of one session
// sessions            output, see above
// session_of          device, output, n elements: the session of each event
// stream              takes all work; the call may wait for it
std::size_t sessionize(const std::uint32_t* user, const std::int64_t* time, const std::int32_t* amount, std::size_t n,
                       std::int64_t max_gap, const Sessions& sessions, std::uint32_t* session_of, cudaStream_t stream);
