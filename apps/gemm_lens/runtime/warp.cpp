#include "warp.hpp"

#include "finding.hpp"
#include "shadow.hpp"

namespace tessera::lens {

void Warp::fill() {
  for (int lane = 0; lane < count_; ++lane) {
    Thread& thread = threads_[lane];
    if (thread.next < thread.count || thread.state != State::Ready) continue;
    thread.next = thread.count = 0;
    resume(thread);
  }
}

/// Returns what the thread does next as a number: an event's, or one of its own for waiting and for the end.
std::uint64_t Warp::next_order(const Thread& thread) const {
  if (thread.next < thread.count) return thread.events[thread.next].order();
  return ~std::uint64_t{0} - static_cast<std::uint64_t>(thread.state) - (std::uint64_t{thread.wait_pc} << 4);
}

/// Counts a branch if the threads that went together go on at different places.
void Warp::look_for_divergence() {
  if (together_ == 0) return;
  std::uint64_t first = 0;
  bool have_first = false, differ = false;
  for (std::uint32_t rest = together_; rest != 0; rest &= rest - 1) {
    const std::uint64_t order = next_order(threads_[__builtin_ctz(rest)]);
    if (!have_first) first = order;
    differ |= have_first && order != first;
    have_first = true;
  }
  if (!differ) return;
  ++launch_.divergent_branches;
  ++launch_.divergent_at[last_pc_];
}

/// Takes the next event of all threads that are at the first place. Returns false if no thread has one.
bool Warp::step() {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint32_t at_first = 0;
  for (int lane = 0; lane < count_; ++lane) {
    const Thread& thread = threads_[lane];
    if (thread.next == thread.count) continue;
    const std::uint64_t order = thread.events[thread.next].order();
    if (order > first) continue;
    if (order < first) {
      first = order;
      at_first = 0;
    }
    at_first |= 1u << lane;
  }
  if (at_first == 0) return false;
  const Event& event = threads_[__builtin_ctz(at_first)].events[threads_[__builtin_ctz(at_first)].next];
  const EventKind kind = event.kind;
  last_pc_ = event.pc;
  together_ = at_first;
  if (kind == EventKind::Flow) {
    for (std::uint32_t rest = at_first; rest != 0; rest &= rest - 1) ++threads_[__builtin_ctz(rest)].next;
    return true;
  }
  Request request;
  request.lanes = at_first;
  request.size = event.size;
  for (std::uint32_t rest = at_first; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    Thread& thread = threads_[lane];
    request.address[static_cast<std::size_t>(lane)] = thread.events[thread.next++].address;
  }
  count_request(launch_, kind, last_pc_, request, threads_);
  return true;
}

/// Lets the threads go on that wait for one another at a barrier of the warp. Returns false if there are none.
bool Warp::pass_warp_barrier() {
  std::uint32_t alive = 0, here = 0, wanted = 0, elsewhere = 0;
  for (int lane = 0; lane < count_; ++lane) {
    const Thread& thread = threads_[lane];
    if (thread.state != State::Ended) alive |= 1u << lane;
    if (thread.state == State::AtWarpBarrier) {
      here |= 1u << lane;
      wanted |= thread.warp_mask;
    }
    if (thread.state == State::AtBlockBarrier) elsewhere |= 1u << lane;
  }
  if (here == 0) return false;
  const std::uint32_t present = count_ == 32 ? ~0u : (1u << count_) - 1;
  std::uint32_t go = 0;
  for (std::uint32_t rest = here; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if ((threads_[lane].warp_mask & alive & ~here) == 0) go |= 1u << lane;
  }
  const Thread& first = threads_[__builtin_ctz(here)];
  if ((wanted & ~alive & present) != 0 || go == 0) {
    Finding made;
    made.kind = "barrier_divergence";
    made.pc = first.wait_pc;
    made.thread = first.index;
    made.block = block_index;
    made.detail =
        go == 0 ? "warp waits for threads at a barrier of the block" : "warp waits for threads that have ended";
    if (elsewhere != 0) made.other_pc = threads_[__builtin_ctz(elsewhere)].wait_pc;
    findings().add(made);
    if (go == 0) stop("deadlock", first.wait_pc);
  }
  order.warp_barrier(number_);
  for (std::uint32_t rest = go; rest != 0; rest &= rest - 1) {
    Thread& thread = threads_[__builtin_ctz(rest)];
    thread.state = State::Ready;
    thread.taken = thread.given;
    thread.released_with = go;
  }
  return true;
}

void Warp::run() {
  for (;;) {
    fill();
    look_for_divergence();
    if (step()) continue;
    together_ = 0;
    if (!pass_warp_barrier()) return;
  }
}

} // namespace tessera::lens
