#include "block.hpp"

#include <vector>

#include "finding.hpp"
#include "shared.hpp"
#include "sync.hpp"
#include "warp.hpp"

uint3 threadIdx, blockIdx, gridDim, blockDim; // constants in the kernels' eyes: each thread sees its own

namespace tessera::lens {
namespace {

Context scheduler;
void (*kernel_of_launch)(const void*) = nullptr;
const void* arguments_of_launch = nullptr;

void thread_begins() {
  kernel_of_launch(arguments_of_launch);
  current->state = State::Ended;
  drop_async_copies(*current);
  switch_context(current->context, scheduler);
  __builtin_unreachable();
}

uint3 index_of(int number, const dim3& block) {
  const auto at = static_cast<unsigned>(number);
  return {at % block.x, at / block.x % block.y, at / block.x / block.y};
}

/// Lets the block go on if all of its threads that have not ended wait at a barrier. Returns false if all have ended.
bool pass_barrier(Launch& launch, int count) {
  const Thread* first = nullptr;
  const Thread* other_place = nullptr;
  const Thread* ended = nullptr;
  for (int number = 0; number < count; ++number) {
    const Thread& thread = threads()[number];
    if (thread.state == State::Ended) {
      if (ended == nullptr) ended = &thread;
    } else if (first == nullptr) {
      first = &thread;
    } else if (thread.wait_pc != first->wait_pc && other_place == nullptr) {
      other_place = &thread;
    }
  }
  if (first == nullptr) return false;
  if (ended != nullptr || other_place != nullptr) {
    Finding made;
    made.kind = "barrier_divergence";
    made.pc = first->wait_pc;
    made.thread = first->index;
    made.block = block_index;
    if (other_place != nullptr) {
      made.other_pc = other_place->wait_pc;
      made.other_thread = other_place->index;
      made.detail = "threads wait at different barriers";
    } else {
      made.other_thread = ended->index;
      made.detail = "threads have ended";
    }
    findings().add(made);
  }
  ++launch.barriers;
  order.block_barrier();
  publish_given(count);
  for (int number = 0; number < count; ++number)
    if (threads()[number].state == State::AtBlockBarrier) threads()[number].state = State::Ready;
  return true;
}

void run_block(Launch& launch, int count) {
  shared_memory().begin_block();
  order.begin_block();
  std::vector<Warp> warps;
  for (int first = 0; first < count; first += warp_size)
    warps.emplace_back(launch, threads() + first, std::min(count - first, warp_size), first / warp_size);
  for (int number = 0; number < count; ++number) {
    Thread& thread = threads()[number];
    thread.number = number;
    thread.index = index_of(number, launch.block);
    thread.next = thread.count = 0;
    thread.state = State::Ready;
    prepare(thread.context, number, thread_begins);
  }
  do
    for (Warp& warp : warps) warp.run();
  while (pass_barrier(launch, count));
}

} // namespace

Thread* threads() {
  static auto* const all = new Thread[most_threads];
  return all;
}

void resume(Thread& thread) {
  current = &thread;
  threadIdx = thread.index;
  switch_context(scheduler, thread.context);
  current = nullptr;
}

void wait_for_room() { switch_context(current->context, scheduler); }

void wait_at(State barrier, std::uint32_t pc, std::uint32_t warp_mask, std::uint64_t given) {
  Thread& thread = *current;
  thread.state = barrier;
  thread.wait_pc = pc;
  thread.warp_mask = warp_mask;
  thread.given = given;
  switch_context(thread.context, scheduler);
}

void run_blocks(Launch& launch, void (*kernel)(const void*), const void* arguments) {
  kernel_of_launch = kernel;
  arguments_of_launch = arguments;
  const auto count = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  order.begin_launch();
  gridDim = launch.grid;
  blockDim = launch.block;
  for (unsigned z = 0; z < launch.grid.z; ++z)
    for (unsigned y = 0; y < launch.grid.y; ++y)
      for (unsigned x = 0; x < launch.grid.x; ++x) {
        blockIdx = block_index = {x, y, z};
        run_block(launch, count);
      }
}

} // namespace tessera::lens
