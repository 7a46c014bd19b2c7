#pragma once

/// The floating-point states in which a caller may be, and calls of the library from them.

#include <functional>
#include <span>
#include <vector>

#include <tessera/detail/floating_point.hpp>

namespace tessera::test {

struct CallersState {
  const char* name;
  detail::FloatingPointState control;
};

/// Returns the states that a program may set: flushing, the other roundings, and exceptions that trap. There are none
/// where the test does not know the processor's registers.
inline std::vector<CallersState> callers_states() {
#if defined(__x86_64__)
  constexpr std::uint32_t contract = 0x1F80;
  return {{"FTZ", {contract | 0x8000}},           {"DAZ", {contract | 0x0040}},
          {"FTZ and DAZ", {contract | 0x8040}},   {"downward", {contract | 0x2000}},
          {"upward", {contract | 0x4000}},        {"toward zero", {contract | 0x6000}},
          {"every exception traps", {0x0000}},    {"upward, with FTZ, DAZ, traps", {0xC040}},
          {"all flags raised", {contract | 0x3F}}};
#elif defined(__aarch64__)
  return {{"FZ", {1u << 24, 0}},          {"FZ16", {1u << 19, 0}},        {"upward", {1u << 22, 0}},
          {"downward", {2u << 22, 0}},    {"toward zero", {3u << 22, 0}}, {"default NaN", {1u << 25, 0}},
          {"all flags raised", {0, 0x9F}}};
#else
  return {};
#endif
}

/// Runs the call in the state, then returns to the state of before. Returns false if the call changed the state. The
/// call must not compute by itself, because an exception may trap.
inline bool leaves_state(const CallersState& state, const std::function<void()>& call) {
  const auto before = detail::FloatingPointState::read();
  state.control.write();
  const auto set = detail::FloatingPointState::read(); // a processor may have no traps
  call();
  const auto after = detail::FloatingPointState::read();
  before.write();
  return after == set;
}

} // namespace tessera::test
