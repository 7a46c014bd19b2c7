#include "sync.hpp"

#include <cstring>
#include <deque>

#include "gemm_lens/device/include/tessera_lens/runtime.hpp"

namespace tessera::lens {
namespace {

unsigned true_of_block = 0, waiting_of_block = 0;

/// Copies from global to shared memory that a thread has started: of groups that it has committed, and of the one that
/// it fills.
struct AsyncCopy {
  void* to;
  const void* from;
  unsigned bytes, zeros;
  unsigned group;
};
struct AsyncCopies {
  std::deque<AsyncCopy> copies;
  unsigned committed = 0;
};
AsyncCopies& copies_of(const Thread& thread) {
  static auto* const all = new AsyncCopies[most_threads];
  return all[thread.number];
}

Thread& lane_of_warp(unsigned lane) {
  return *(current - current->number % warp_size + static_cast<int>(lane % warp_size));
}

void wait_for_block(const void* caller, int given) {
  wait_at(State::AtBlockBarrier, pc_of(caller), 0, static_cast<std::uint64_t>(given != 0));
}

} // namespace

void publish_given(int count) {
  true_of_block = waiting_of_block = 0;
  for (int number = 0; number < count; ++number)
    if (const Thread& thread = threads()[number]; thread.state == State::AtBlockBarrier) {
      ++waiting_of_block;
      true_of_block += thread.given != 0;
    }
}

void drop_async_copies(const Thread& thread) { copies_of(thread) = {}; }

unsigned long long exchange(unsigned mask, unsigned long long mine, unsigned source_lane) {
  wait_at(State::AtWarpBarrier, pc_of(__builtin_return_address(0)), mask, mine);
  return lane_of_warp(source_lane).taken;
}

unsigned ballot(unsigned mask, bool mine) {
  wait_at(State::AtWarpBarrier, pc_of(__builtin_return_address(0)), mask, mine);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if ((current->released_with >> lane & 1) != 0 && (mask >> lane & 1) != 0 && lane_of_warp(lane).taken != 0)
      bits |= 1u << lane;
  return bits;
}

unsigned active_lanes() {
  unsigned bits = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    if (lane_of_warp(lane).state != State::Ended) bits |= 1u << lane;
  return bits;
}

void note_atomic(void* at, unsigned bytes) { note(EventKind::Atomic, at, bytes, TESSERA_LENS_CALLER); }

void start_copy(void* to, const void* from, unsigned bytes, unsigned zeros) {
  if (bytes > zeros) note(EventKind::Load, from, bytes - zeros, TESSERA_LENS_CALLER);
  note(EventKind::Copy, to, bytes, TESSERA_LENS_CALLER);
  if (current == nullptr) return;
  AsyncCopies& mine = copies_of(*current);
  mine.copies.push_back({to, from, bytes, zeros, mine.committed});
}

void commit_copies() {
  if (current != nullptr) ++copies_of(*current).committed;
}

void wait_for_copies(unsigned groups) {
  if (current == nullptr) return;
  AsyncCopies& mine = copies_of(*current);
  while (!mine.copies.empty() && mine.copies.front().group + groups < mine.committed) {
    const AsyncCopy copy = mine.copies.front();
    mine.copies.pop_front();
    std::memcpy(copy.to, copy.from, copy.bytes - copy.zeros);
    std::memset(static_cast<char*>(copy.to) + copy.bytes - copy.zeros, 0, copy.zeros);
  }
}

unsigned shared_offset(const void* at) { return pc_of(at); }
void* shared_address(unsigned offset) { return &__executable_start + offset; }

} // namespace tessera::lens

void __syncthreads() { tessera::lens::wait_for_block(__builtin_return_address(0), 0); }
int __syncthreads_or(int predicate) {
  tessera::lens::wait_for_block(__builtin_return_address(0), predicate);
  return tessera::lens::true_of_block != 0;
}
int __syncthreads_and(int predicate) {
  tessera::lens::wait_for_block(__builtin_return_address(0), predicate);
  return tessera::lens::true_of_block == tessera::lens::waiting_of_block;
}
int __syncthreads_count(int predicate) {
  tessera::lens::wait_for_block(__builtin_return_address(0), predicate);
  return static_cast<int>(tessera::lens::true_of_block);
}
void __syncwarp(unsigned mask) {
  tessera::lens::wait_at(tessera::lens::State::AtWarpBarrier, tessera::lens::pc_of(__builtin_return_address(0)), mask,
                         0);
}
