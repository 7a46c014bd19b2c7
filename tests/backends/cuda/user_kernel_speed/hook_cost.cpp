#include "hook_cost.hpp"

#include <tessera/detail/stopwatch.hpp>

#include "support/borrowing_executor.hpp"

namespace speed {
namespace {

/// An executor whose memory is never there, so that free() has nothing to do.
class IdleExecutor final : public tessera::test::BorrowingExecutor {
 public:
  IdleExecutor() : BorrowingExecutor(tessera::Backend::Reference) {}
  void run_free(void*) noexcept override {}
};

constexpr int calls = 1'000'000;
char memory = 0; // not null: free(nullptr) is a shorter way

void free_without_check(tessera::HostExecutor& executor, void* it) noexcept { executor.run_free(it); }
/// It is called through a pointer, as an entry of a shared library is.
void (*volatile entry_without_check)(tessera::HostExecutor&, void*) noexcept = free_without_check;

template <class Call>
Contestant contestant(const char* name, bool ours, Call call) {
  return {name, ours, [call] {
            static IdleExecutor idle;
            tessera::HostExecutor* executor = &idle;
            asm volatile("" : "+r"(executor)); // hides which executor it is, so that all calls are virtual
            const auto loop = [&] {
              for (int i = 0; i < calls; ++i) {
                call(*executor);
                asm volatile("" ::: "memory");
              }
            };
            return tessera::measure::host_seconds(loop) / calls;
          }};
}

} // namespace

std::vector<Contestant> hook_contestants() {
  return {contestant("Tessera, Executor::free()", true, [](tessera::Executor& e) { e.free(&memory); }),
          contestant("an entry without the check", false, [](auto& e) { entry_without_check(e, &memory); }),
          contestant("run_free() called directly", false, [](auto& e) { e.run_free(&memory); })};
}

} // namespace speed
