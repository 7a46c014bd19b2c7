#include "hook_cost.hpp"

#include <tessera/detail/stopwatch.hpp>

#include "support/borrowing_executor.hpp"

namespace speed {
namespace {

/// Its memory is never there, so that free() has nothing to do.
class IdleExecutor final : public tessera::test::BorrowingExecutor {
 public:
  IdleExecutor() : BorrowingExecutor(tessera::Backend::Reference) {}
  void run_free(void*) noexcept override {}
};

constexpr int calls = 1'000'000;

/// Hides from the compiler which executor it is, so that both calls are virtual.
tessera::HostExecutor& idle_executor() {
  static IdleExecutor idle;
  tessera::HostExecutor* executor = &idle;
  asm volatile("" : "+r"(executor));
  return *executor;
}

} // namespace

std::vector<Contestant> hook_contestants() {
  static char memory = 0; // not null: free(nullptr) would be a shorter way
  const auto with = [] {
    tessera::Executor& executor = idle_executor();
    return tessera::measure::host_seconds([&] {
             for (int i = 0; i < calls; ++i) executor.free(&memory);
           }) /
           calls;
  };
  const auto without = [] {
    tessera::HostExecutor& executor = idle_executor();
    return tessera::measure::host_seconds([&] {
             for (int i = 0; i < calls; ++i) {
               executor.run_free(&memory);
               asm volatile("" ::: "memory");
             }
           }) /
           calls;
  };
  return {{.name = "Tessera, Executor::free()", .ours = true, .time = with},
          {.name = "run_free() called directly", .time = without}};
}

} // namespace speed
