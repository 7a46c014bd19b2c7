#pragma once

/// A thread of the block that runs, and what it waits for.

#include "../device/include/tessera_lens/vector_types.hpp"
#include "event.hpp"
#include "fibre.hpp"

namespace tessera::lens {

constexpr int warp_size = 32;
constexpr int most_events = 1024; ///< events that a thread runs ahead of its warp

enum class State : std::uint8_t { Ready, AtBlockBarrier, AtWarpBarrier, Ended };

struct Thread {
  Context context;
  Event events[most_events];
  int next = 0, count = 0; ///< events not yet looked at are [next, count)
  State state = State::Ended;
  std::uint32_t wait_pc = 0;       ///< the barrier at which it waits
  std::uint32_t warp_mask = 0;     ///< the lanes that a barrier of the warp waits for
  std::uint64_t given = 0;         ///< what the thread brings to a barrier
  std::uint64_t taken = 0;         ///< what it brought to the last barrier of its warp that let it go on
  std::uint32_t released_with = 0; ///< the lanes that went on with it there
  int number = 0;
  uint3 index{};
};

/// The thread that runs now; null while the host's code runs.
inline Thread* current = nullptr;
inline uint3 block_index{};
/// Set by the alarm; the next event then ends everything.
inline volatile bool stop_requested = false;

/// The program's first byte. Events count from it, and so do the addresses in its file.
extern "C" char __executable_start;
inline std::uint32_t pc_of(const void* address) {
  return static_cast<std::uint32_t>(static_cast<const char*>(address) - &__executable_start);
}

/// Returns the threads of the block that runs.
Thread* threads();
/// Lets the current thread wait until its block or warp goes on.
void wait_at(State barrier, std::uint32_t pc, std::uint32_t warp_mask, std::uint64_t given);
/// Lets the current thread wait until its events have been looked at.
void wait_for_room();
/// Ends the run, with what has been counted: `reason` is a word of the report. Does not return.
[[noreturn]] void stop(const char* reason, std::uint32_t pc);

/// Notes an access of the current thread.
inline void note(EventKind kind, const void* address, unsigned size, const void* caller, const void* frame) {
  if (__builtin_expect(stop_requested, false)) stop("time_limit", pc_of(caller));
  Thread* const thread = current;
  if (thread == nullptr) return;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (on_stack(at)) return; // a register or local memory
  const auto used = (end_of_stack(thread->number) - reinterpret_cast<std::uintptr_t>(frame)) / 16;
  thread->events[thread->count++] = {at, pc_of(caller), static_cast<std::uint16_t>(used),
                                     static_cast<std::uint8_t>(size), kind};
  if (thread->count == most_events) wait_for_room();
}

} // namespace tessera::lens

#define TESSERA_LENS_CALLER __builtin_return_address(0), __builtin_frame_address(0)
